#include "ring/control.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static void expect_refused(const char *name, int fd)
{
	struct control c = {0};
	cr_expect_eq(control_open(&c, fd), fd < 0 ? -EBADF : -EPROTO, "%s", name);
	cr_expect_null(c.page, "%s", name);
	if (fd >= 0)
		close(fd);
}

static int forge(uint64_t magic, uint32_t version, off_t size, int seals)
{
	struct control_page page = {.magic = magic, .version = version, .size = (uint64_t)size};
	int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert_eq(pwrite(fd, &page, sizeof page, 0), (ssize_t)sizeof page);
	cr_assert_eq(ftruncate(fd, size), 0);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

Test(control_create, both_sides_see_the_same_page)
{
	struct control holder, server;
	int fd;
	cr_assert_eq(control_create(&holder, 1 << 20, &fd), 0);
	cr_assert_eq(control_open(&server, fd), 0);
	cr_assert_eq(server.page->size, 1 << 20);
	server.page->tail = 123;
	cr_assert_eq(holder.page->tail, 123);
	control_close(&server);
	control_close(&holder);
	close(fd);
}

Test(control_create, size_is_sealed)
{
	struct control c;
	int fd;
	cr_assert_eq(control_create(&c, 4096, &fd), 0);
	cr_assert_eq(ftruncate(fd, 100), -1);
	cr_assert_eq(ftruncate(fd, 8192), -1);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1, "the peer cannot add seals");
	cr_assert_neq(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	control_close(&c);
	close(fd);
}

Test(control_create, layout_is_frozen)
{
	cr_assert_eq(offsetof(struct control_page, tail), 24);
	cr_assert_eq(offsetof(struct control_page, events_tail), 32);
	cr_assert_eq(offsetof(struct control_page, waiting), 40);
	cr_assert_eq(offsetof(struct control_page, ground), 48);
	cr_assert_eq(offsetof(struct control_page, answered), 2248);
	cr_assert_eq(offsetof(struct control_page, active_ms), 2256);
	cr_assert_leq(sizeof(struct control_page), 4096);
}

Test(control_open, sealed_copy_is_accepted)
{
	struct control c;
	int fd = forge(CONTROL_MAGIC, CONTROL_VERSION, 4096, SEALS);
	cr_assert_eq(control_open(&c, fd), 0);
	control_close(&c);
	close(fd);
}

Test(control_open, other_files_are_refused)
{
	expect_refused("closed descriptor", -1);
	expect_refused("wrong magic", forge(CONTROL_MAGIC + 1, CONTROL_VERSION, 4096, SEALS));
	expect_refused("wrong version", forge(CONTROL_MAGIC, CONTROL_VERSION + 1, 4096, SEALS));
	expect_refused("too short",
		forge(CONTROL_MAGIC, CONTROL_VERSION, sizeof(struct control_page) - 1, SEALS));
}

Test(control_close, closing_an_unmapped_control_does_nothing)
{
	struct control c = {0};
	control_close(&c);
}
