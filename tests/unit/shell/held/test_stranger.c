/* A holder of another user's: what it says is not believed where we may do more than that user. Only root can have one. */
#include "pty/link.h"
#include "shell/held/held.h"
#include "tests/lib/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRANGER 1 /* its uid */

enum place { NAMED = 20, OURS, ITS_OWN, NONE };

static struct held h;
static pid_t stranger, child;
static int listener = -1;

/* Becomes another user that listens, with a child of its own and a file of each kind; tells the child's number. */
static _Noreturn void live(int told)
{
	if (dup2(open("/etc/passwd", O_RDONLY), NAMED) < 0 ||
		dup2(memfd_create("ours", 0), OURS) < 0 || setgid(STRANGER) < 0 ||
		setuid(STRANGER) < 0 || dup2(memfd_create("its own", 0), ITS_OWN) < 0 ||
		listen(listener, 1) < 0)
		_exit(1);
	pid_t below = fork();
	if (below > 0 && write(told, &below, sizeof below) != sizeof below)
		_exit(1);
	for (;;)
		pause();
}

static void set_up(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int told[2];
	if (geteuid() != 0)
		cr_skip_test("only root can be another user");
	listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	socklen_t length = sizeof address;
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	cr_assert_eq(pipe(told), 0);
	stranger = fork();
	if (stranger == 0)
		live(told[1]);
	close(told[1]);
	cr_assert_eq(read(told[0], &child, sizeof child), sizeof child);
	close(told[0]);
	h = (struct held){.link.socket_fd = socket(AF_UNIX, SOCK_SEQPACKET, 0)};
	cr_assert_eq(connect(h.link.socket_fd, (struct sockaddr *)&address, length), 0);
	h.link.info = (struct wire_info){.holder_pid = stranger, .shell_pid = child};
}

static void tear_down(void)
{
	if (child > 0)
		kill(child, SIGKILL);
	if (stranger > 0)
		kill(stranger, SIGKILL);
	while (stranger > 0 && waitpid(stranger, NULL, 0) < 0 && errno == EINTR)
		;
	if (h.link.socket_fd > 0)
		close(h.link.socket_fd);
	close(listener);
}

TestSuite(stranger, .init = set_up, .fini = tear_down, .timeout = 60);

Test(stranger, is_known_by_the_kernel)
{
	cr_expect_eq(link_user(&h.link), STRANGER);
	cr_expect_eq(link_user(&(struct link){.socket_fd = -1}), geteuid());
}

Test(stranger, only_a_file_of_its_own_without_a_name_is_opened)
{
	cr_expect_eq(held_open_place(&h, NAMED, O_RDONLY), -EPROTO);
	cr_expect_eq(held_open_place(&h, OURS, O_RDWR), -EACCES);
	cr_expect_eq(held_open_place(&h, NONE, O_RDONLY), -ENOENT);
	int fd = held_open_place(&h, ITS_OWN, O_RDWR);
	cr_assert(fd >= 0, "%d", fd);
	cr_expect_eq(write(fd, "x", 1), 1);
	close(fd);
}

Test(stranger, numbers_are_those_of_its_children)
{
	cr_expect_eq(link_number(&h.link, stranger, child), child);
	cr_expect_eq(link_number(&h.link, stranger, getpid()), 0);
	cr_expect_eq(link_number(&h.link, stranger, 1), 0);
	h.link.info.shell_pid = 1;
	link_find_holder(&h.link);
	cr_expect_eq(h.link.info.shell_pid, 0);
	h.link.info = (struct wire_info){.holder_pid = getpid(), .shell_pid = child};
	link_find_holder(&h.link);
	cr_expect_eq(h.link.info.holder_pid, stranger);
}

Test(stranger, a_shared_file_is_its_own_and_a_link_is_not_followed)
{
	struct folder folder;
	struct stat st;
	folder_make(&folder);
	h.link.dir_fd = folder.fd;
	close(openat(folder.fd, "given", O_WRONLY | O_CREAT, 0600));
	close(openat(folder.fd, "kept", O_WRONLY | O_CREAT, 0600));
	cr_assert_eq(symlinkat("kept", folder.fd, "link"), 0);
	held_share(&h, "given");
	held_share(&h, "link");
	held_share(&h, "none");
	cr_assert_eq(fstatat(folder.fd, "given", &st, 0), 0);
	cr_expect_eq(st.st_uid, STRANGER);
	cr_assert_eq(fstatat(folder.fd, "kept", &st, 0), 0);
	cr_expect_eq(st.st_uid, 0);
	folder_remove(&folder);
}
