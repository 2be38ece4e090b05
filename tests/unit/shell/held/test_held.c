/* Opening a holder's descriptors by its pid. */
#include "shell/held/held.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* A holder that is this process. */
static struct held make(void)
{
	return (struct held){.link = {.state = LINK_ATTACHED,
				     .info = {.holder_pid = getpid(), .owner = geteuid()}}};
}

Test(held_open_descriptor, file_of_the_same_user)
{
	struct held h = make();
	char got[4] = "";
	int place = memfd_create("place", MFD_CLOEXEC);
	cr_assert_eq(write(place, "abc", 3), 3);
	int fd = held_open_descriptor(&h, place, O_RDONLY);
	cr_assert_geq(fd, 0);
	cr_expect_eq(read(fd, got, 3), 3, "from its beginning");
	cr_expect_str_eq(got, "abc");
	cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	h.link.info.owner++;
	cr_expect_eq(held_open_descriptor(&h, place, O_RDONLY), -ESRCH);
	close(place);
}

/* Opening the FIFO would block until another process opens it. */
Test(held_open_descriptor, dead_or_closed_descriptors_are_refused, .timeout = 30)
{
	struct held h = make();
	int ends[2];
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[1]);
	cr_expect_eq(held_open_descriptor(&h, ends[0], O_RDONLY), -ESRCH);
	close(ends[0]);
	cr_expect_eq(held_open_descriptor(&h, ends[0], O_RDONLY), -ENOENT);
}

Test(held_open_descriptor, process_that_has_exited)
{
	struct held h = make();
	h.holder_lost = true;
	cr_expect_eq(held_open_descriptor(&h, 0, O_RDONLY), -ESRCH);
}
