#include "pty/spawn.h"
#include "tests/lib/folder_test.h"
#include "tests/lib/open_fds.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

TestSuite(spawn_holder, FOLDER_SUITE, .timeout = 30);

static int start(const char *holder, const char *const *argv, pid_t *ret_pid, int *ret_fd)
{
	static const char *const environment[] = {"PATH=/usr/bin:/bin", "FROM_TEST=1", NULL};
	struct spawn_options o = {
		.holder = holder,
		.dir_fd = folder.fd,
		.cwd = "/",
		.argv = (char *const *)(uintptr_t)argv,
		.envp = (char *const *)(uintptr_t)environment,
		.rows = 24,
		.cols = 80,
		.ring_size = 65536,
		.control_size = 4096,
	};
	return spawn_holder(&o, ret_pid, ret_fd);
}

/* Read the report pipe to its end. */
static ssize_t read_report(int fd, void *bytes, size_t size)
{
	size_t length = 0;
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		cr_assert_eq(poll(&p, 1, 15000), 1);
		ssize_t n = read(fd, (char *)bytes + length, size - length);
		cr_assert_geq(n, 0);
		if (n == 0)
			break;
		length += (size_t)n;
	}
	close(fd);
	return (ssize_t)length;
}

/* A shell script in the holder's place, which writes to descriptor 4. */
static const char *write_script(const char *text)
{
	static char path[300];
	folder_put(&folder, "fake", text);
	cr_assert_eq(fchmodat(folder.fd, "fake", 0700, 0), 0);
	snprintf(path, sizeof path, "%s/fake", folder.path);
	return path;
}

Test(spawn_holder, missing_program)
{
	const char *const argv[] = {"bash", NULL};
	unsigned before = open_fds();
	pid_t pid = 77;
	int fd = 77;
	cr_assert_eq(start("/nonexistent", argv, &pid, &fd), -ENOENT);
	cr_assert_eq(pid, 77);
	cr_assert_eq(fd, 77);
	cr_assert_eq(open_fds(), before);
}

Test(spawn_holder, too_many_arguments)
{
	const char *argv[100];
	pid_t pid;
	int fd;
	for (int i = 0; i < 99; i++)
		argv[i] = "x";
	argv[99] = NULL;
	cr_assert_eq(start("/bin/true", argv, &pid, &fd), -E2BIG);
	argv[64] = NULL;
	cr_assert_eq(start("/bin/true", argv, &pid, &fd), 0);
	close(fd);
	waitpid(pid, NULL, 0);
}

Test(spawn_holder, program_that_dies_at_once)
{
	const char *const argv[] = {"bash", NULL};
	char byte;
	pid_t pid;
	int fd, status;
	cr_assert_eq(start("/bin/false", argv, &pid, &fd), 0);
	cr_assert_eq(read_report(fd, &byte, 1), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
}

Test(spawn_holder, passes_the_arguments_and_no_other_descriptors)
{
	const char *const argv[] = {"bash", "-c", "two words", "", NULL};
	char text[4096] = "", session[50];
	pid_t pid;
	int fd, status;
	/* Descriptors without CLOEXEC must not be inherited. */
	int low = fcntl(1, F_DUPFD, 5), high = fcntl(1, F_DUPFD, 100);
	cr_assert_eq(
		start(write_script(
			      "#!/bin/bash\n"
			      "d=/proc/$$/fd\n"
			      "ls $d >$d/3/list\n"
			      "readlink $d/0 $d/1 $d/2 $d/3 >$d/3/links\n"
			      "{ printf '[%s]' \"$@\"; echo; env | grep FROM; tr '\\n' ' ' <$d/3/list; cat $d/3/links;\n"
			      "ps -o sid= -p $$ | tr -d ' '; } >&4\n"),
			argv, &pid, &fd),
		0);
	read_report(fd, text, sizeof text - 1);
	waitpid(pid, &status, 0);
	close(high);
	close(low);
	cr_expect_not_null(
		strstr(text,
			"[--rows][24][--cols][80][--ring-size][65536][--control-size][4096][--ttl][0]"
			"[--nofile][0][--owner][0][--cwd][/][--][bash][-c][two words][]"),
		"%s", text);
	cr_expect_not_null(strstr(text, "FROM_TEST=1"), "%s", text);
	/* descriptor 255 is bash's own, for the script */
	cr_expect_not_null(
		strstr(text, "\n0 1 2 255 3 4 /dev/null\n/dev/null\n/dev/null\n/"), "%s", text);
	cr_expect_not_null(strstr(text, folder.path), "%s", text);
	snprintf(session, sizeof session, "\n%d\n", pid);
	cr_expect_not_null(strstr(text, session), "a session of its own: %s", text);
}

Test(spawn_holder, signals_have_their_defaults)
{
	const char *const argv[] = {"bash", NULL};
	char text[4096] = "";
	pid_t pid;
	int fd, status;
	unsigned long long blocked, ignored;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	cr_assert_eq(
		start(write_script("#!/bin/sh\ngrep -E 'SigBlk|SigIgn' /proc/self/status >&4\n"),
			argv, &pid, &fd),
		0);
	read_report(fd, text, sizeof text - 1);
	waitpid(pid, &status, 0);
	cr_assert_eq(sscanf(text, "SigBlk: %llx SigIgn: %llx", &blocked, &ignored), 2, "%s", text);
	cr_assert_eq(blocked, 0);
	/* glibc's posix_spawn leaves its own two real-time signals ignored. */
	cr_assert_eq(ignored & ~UINT64_C(0x180000000), 0, "%s", text);
}
