#include "shell/output/inlet.h"
#include "shell/own_error.h"

#include "tests/lib/folder.h"
#include "tests/lib/until.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#define MUCH ((size_t)300000) /* bytes, more than a pipe holds */

static struct {
	struct folder folder;
	uv_loop_t loop;
	struct inlets *all;
	char id[FIFO_ID_SIZE];
	struct inlet *inlet;
	unsigned drained, ended;
	uint64_t bytes;
	bool refused;
} t;

static void on_drained(void *user)
{
	(void)user;
	t.drained++;
}

static void on_ended(void *user, uint64_t bytes, bool refused)
{
	(void)user;
	t.ended++;
	t.bytes = bytes;
	t.refused = refused;
}

static const struct inlet_callbacks callbacks = {.drained = on_drained, .ended = on_ended};

static void set_up(void)
{
	folder_make(&t.folder);
	cr_assert_eq(uv_loop_init(&t.loop), 0);
	cr_assert_eq(inlets_open(&t.loop, t.folder.path, INLET_WRITER_MS, &t.all), 0);
	cr_assert_eq(inlet_create(t.all, t.id), 0);
	t.inlet = inlet_find(t.all, t.id);
	cr_assert_not_null(t.inlet);
}

static void tear_down(void)
{
	inlets_close(t.all);
	uv_run(&t.loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&t.loop), 0);
	folder_remove(&t.folder);
}

/* Open the FIFO at the place that a command in a shell uses. */
static int open_moved(void)
{
	char path[300];
	cr_assert_eq(fifo_move(t.folder.path, t.id, t.folder.fd, "input"), 0);
	snprintf(path, sizeof path, "%s/input", t.folder.path);
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static size_t read_some(int fd, size_t most)
{
	static char bytes[MUCH];
	ssize_t n = read(fd, bytes, most < sizeof bytes ? most : sizeof bytes);
	return n > 0 ? (size_t)n : 0;
}

TestSuite(inlet, .init = set_up, .fini = tear_down, .timeout = 60);

Test(inlet, late_reader_gets_all_bytes_and_the_end)
{
	static char much[MUCH];
	size_t got = 0, n;
	cr_assert_eq(inlet_write_begin(t.inlet, &callbacks, NULL), 0);
	cr_assert_eq(inlet_write(t.inlet, much, MUCH), -EAGAIN);
	for (int i = 0; i < 5; i++)
		uv_run(&t.loop, UV_RUN_ONCE);
	cr_assert_eq(t.drained, 0);
	int fd = open_moved();
	cr_assert(LOOP_UNTIL(&t.loop, (n = read_some(fd, MUCH), got += n, t.drained > 0)));
	inlet_write_end(t.inlet, true);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	while ((n = read_some(fd, MUCH)) > 0)
		got += n;
	cr_assert_eq(got, MUCH);
	cr_assert_eq(t.bytes, MUCH);
	cr_assert_not(t.refused);
	cr_assert_eq(read(fd, much, 1), 0, "end of file");
	cr_assert_null(inlet_find(t.all, t.id));
	close(fd);
}

Test(inlet, bytes_wait_for_the_reader)
{
	char text[8];
	cr_assert_eq(inlet_write_begin(t.inlet, &callbacks, NULL), 0);
	cr_assert_eq(inlet_write(t.inlet, "hello", 5), -EAGAIN);
	int fd = inlet_reader(t.inlet);
	cr_assert_geq(fd, 0);
	cr_assert_eq(inlet_reader(t.inlet), -ENOENT, "there is one reader only");
	cr_assert(LOOP_UNTIL(&t.loop, t.drained == 1));
	cr_assert_eq(read(fd, text, sizeof text), 5);
	inlet_write_end(t.inlet, true);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	cr_assert_eq(read(fd, text, sizeof text), 0);
	close(fd);
}

Test(inlet, reader_that_closes_is_reported_at_once)
{
	cr_assert_eq(inlet_write_begin(t.inlet, &callbacks, NULL), 0);
	int fd = inlet_reader(t.inlet);
	cr_assert_eq(inlet_write(t.inlet, "abc", 3), 0);
	close(fd);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	cr_assert(t.refused);
	cr_assert_eq(t.bytes, 3);
}

Test(inlet, early_end_of_the_writer_reaches_the_reader)
{
	char byte;
	cr_assert_eq(inlet_write_begin(t.inlet, &callbacks, NULL), 0);
	inlet_write_end(t.inlet, false);
	int fd = open_moved();
	cr_assert(LOOP_UNTIL(&t.loop, !inlet_find(t.all, t.id)));
	cr_assert_eq(read(fd, &byte, 1), 0);
	cr_assert_eq(t.ended, 0, "the callback was cancelled");
	close(fd);
}

Test(inlet, bytes_that_no_command_can_read_are_refused)
{
	cr_assert_eq(inlet_write_begin(t.inlet, &callbacks, NULL), 0);
	cr_assert_eq(inlet_write(t.inlet, "abc", 3), -EAGAIN);
	cr_assert_eq(inlet_write_begin(t.inlet, &callbacks, NULL), -EBUSY);
	cr_assert_eq(fifo_remove(t.folder.path, t.id), 0);
	cr_assert(LOOP_UNTIL(&t.loop, t.ended == 1));
	cr_assert(t.refused);
	cr_assert_eq(t.bytes, 0);
}

Test(inlet, number_is_limited_and_each_is_read_once)
{
	char id[FIFO_ID_SIZE];
	int rc = 0;
	unsigned made = 1;
	while (made < INLETS_MAX && (rc = inlet_create(t.all, id)) == 0)
		made++;
	cr_assert_eq(rc, 0);
	cr_assert_eq(inlet_create(t.all, id), -ERR_LIMIT);
	int fd = inlet_reader(t.inlet);
	cr_assert_geq(fd, 0);
	cr_expect_eq(inlet_reader(t.inlet), -ENOENT);
	cr_expect_eq(fifo_move(t.folder.path, t.id, t.folder.fd, "input"), -ENOENT);
	cr_expect_eq(fifo_move(t.folder.path, "../input", t.folder.fd, "input"), -ENOENT);
	close(fd);
}

Test(inlet, inlets_of_an_earlier_server_are_removed)
{
	struct inlets *next;
	struct stat st;
	char path[300];
	snprintf(path, sizeof path, "%s/stdin/%s", t.folder.path, t.id);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(inlets_open(&t.loop, t.folder.path, INLET_WRITER_MS, &next), 0);
	cr_assert_eq(stat(path, &st), -1);
	inlets_close(next);
}

Test(inlet, command_without_a_writer_gets_the_end)
{
	struct inlets *brief;
	char id[FIFO_ID_SIZE], path[300];
	cr_assert_eq(inlets_open(&t.loop, t.folder.path, 1, &brief), 0);
	for (int late = 0; late < 2; late++) {
		cr_assert_eq(inlet_create(brief, id), 0);
		cr_assert_eq(fifo_move(t.folder.path, id, t.folder.fd, "input"), 0);
		snprintf(path, sizeof path, "%s/input", t.folder.path);
		int fd = late ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		/* A reader that polls the FIFO sees that a writer has come and gone. */
		for (int i = 0; late && i < 10; i++)
			uv_run(&t.loop, UV_RUN_ONCE);
		fd = late ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : fd;
		struct pollfd p = {.fd = fd, .events = POLLIN};
		cr_assert(LOOP_UNTIL(&t.loop, poll(&p, 1, 0) == 1 && (p.revents & POLLHUP)));
		close(fd);
		cr_assert(LOOP_UNTIL(&t.loop, !inlet_find(brief, id)));
	}
	/* No command opens this one. */
	cr_assert_eq(inlet_create(brief, id), 0);
	cr_assert(LOOP_UNTIL(&t.loop, !inlet_find(brief, id)));
	inlets_close(brief);
}
