#include "ring/ring.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static const struct ring_options small = {.size = RING_SIZE_MIN, .rows = 24, .cols = 80};

static int make(struct ring *r)
{
	int fd;
	cr_assert_eq(ring_create(r, &small, &fd), 0);
	return fd;
}

/* A copy of a real ring, changed by edit(), for ring_open(). Returns its descriptor. */
static int forge(void (*edit)(struct ring_header *), int seals)
{
	struct ring r;
	struct stat st;
	struct ring_header header;
	int real = make(&r);
	cr_assert_eq(fstat(real, &st), 0);
	header = *r.header;
	if (edit)
		edit(&header);
	int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert_eq(ftruncate(fd, st.st_size), 0);
	cr_assert_eq(pwrite(fd, &header, sizeof header, 0), (ssize_t)sizeof header);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	ring_close(&r);
	close(real);
	return fd;
}

static void expect_refused(int fd, int rc)
{
	struct ring r;
	cr_assert_eq(ring_open(&r, fd), rc);
	cr_assert_null(r.header);
	cr_assert_null(r.bytes.data);
	cr_assert_null(r.events.data);
	ring_close(&r); /* harmless */
	if (fd >= 0)
		close(fd);
}

Test(ring_round_size, is_a_power_of_two_within_limits)
{
	cr_assert_eq(ring_round_size(0), RING_SIZE_MIN);
	cr_assert_eq(ring_round_size(RING_SIZE_MIN), RING_SIZE_MIN);
	cr_assert_eq(ring_round_size(RING_SIZE_MIN + 1), 2 * RING_SIZE_MIN);
	cr_assert_eq(ring_round_size(5 << 20), 8 << 20);
	cr_assert_eq(ring_round_size(RING_SIZE_MAX), RING_SIZE_MAX);
	cr_assert_eq(ring_round_size(SIZE_MAX), RING_SIZE_MAX);
}

Test(ring_create, header_describes_the_ring)
{
	struct ring r;
	int fd = make(&r);
	cr_assert_eq(r.header->magic, RING_MAGIC);
	cr_assert_eq(r.header->version, RING_VERSION);
	cr_assert_eq(r.header->header_size, sizeof(struct ring_header));
	cr_assert_eq(r.header->holder_pid, getpid());
	cr_assert_eq(r.header->rows, 24);
	cr_assert_eq(r.header->cols, 80);
	cr_assert_eq(r.header->geometry, 24u << 16 | 80);
	cr_assert_eq(r.bytes.size, RING_SIZE_MIN);
	cr_assert_eq(r.events.size, RING_EVENTS_SIZE);
	cr_assert_eq(r.header->exited, 0);
	ring_close(&r);
	close(fd);
}

Test(ring_create, layout_is_frozen)
{
	cr_assert_eq(offsetof(struct ring_header, epoch), 16);
	cr_assert_eq(offsetof(struct ring_header, holder_pid), 32);
	cr_assert_eq(offsetof(struct ring_header, geometry), 44);
	cr_assert_eq(offsetof(struct ring_header, bytes), 48);
	cr_assert_eq(offsetof(struct ring_header, events), 80);
	cr_assert_eq(offsetof(struct ring_header, blocked), 112);
	cr_assert_eq(offsetof(struct ring_header, exited), 116);
	cr_assert_eq(offsetof(struct ring_header, exit_status), 120);
	cr_assert_eq(offsetof(struct ring_header, exit_offset), 128);
	cr_assert_eq(offsetof(struct ring_header, exit_time_ns), 136);
	cr_assert_eq(memcmp(&(uint64_t){RING_MAGIC}, "RKSRING1", 8), 0);
}

Test(ring_create, epochs_differ)
{
	struct ring a, b;
	int first = make(&a), second = make(&b);
	cr_assert_neq(a.header->epoch, b.header->epoch);
	ring_close(&a);
	ring_close(&b);
	close(first);
	close(second);
}

Test(ring_create, file_is_sealed_and_closes_on_exec)
{
	struct ring r;
	int fd = make(&r), seals = fcntl(fd, F_GET_SEALS);
	cr_assert_eq(seals & SEALS, SEALS);
	cr_assert_neq(seals & F_SEAL_SEAL, 0);
	cr_assert_eq(ftruncate(fd, 4096), -1);
	cr_assert_eq(ftruncate(fd, 1 << 30), -1);
	cr_assert_eq(pwrite(fd, "x", 1, 0), -1);
	cr_assert_eq(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	cr_assert_neq(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	ring_close(&r);
	close(fd);
}

Test(ring_create, writer_reopened_by_path_cannot_write)
{
	struct ring r;
	char path[64];
	int fd = make(&r);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int again = open(path, O_RDWR | O_CLOEXEC);
	if (again >= 0) {
		cr_assert_eq(pwrite(again, "x", 1, 4096), -1);
		close(again);
	}
	ring_close(&r);
	close(fd);
}

Test(ring_create, creator_can_write_after_the_seals)
{
	struct ring r, reader;
	int fd = make(&r);
	char text[4] = "";
	uint64_t offset = 0;
	cr_assert_eq(ring_open(&reader, fd), 0);
	memcpy(stream_reserve(&r.bytes, 3), "abc", 3);
	stream_commit(&r.bytes, 3);
	cr_assert_eq(stream_read(&reader.bytes, &offset, text, sizeof text), 3);
	cr_assert_str_eq(text, "abc");
	cr_assert_eq(reader.header->epoch, r.header->epoch);
	ring_close(&reader);
	ring_close(&r);
	close(fd);
}

Test(ring_create, untouched_pages_cost_no_memory)
{
	struct ring r;
	struct stat st;
	int fd;
	cr_assert_eq(ring_create(&r, &(struct ring_options){.size = RING_SIZE_MAX}, &fd), 0);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_leq(st.st_blocks * 512, 64 << 10);
	ring_close(&r);
	close(fd);
}

Test(ring_open, reader_cannot_write_bytes, .signal = SIGSEGV)
{
	struct ring r, reader;
	int fd = make(&r);
	cr_assert_eq(ring_open(&reader, fd), 0);
	signal(SIGSEGV, SIG_DFL); /* not ASan's */
	reader.bytes.data[0] = 1;
}

Test(ring_open, reader_cannot_write_events, .signal = SIGSEGV)
{
	struct ring r, reader;
	int fd = make(&r);
	cr_assert_eq(ring_open(&reader, fd), 0);
	signal(SIGSEGV, SIG_DFL);
	reader.events.data[0] = 1;
}

Test(ring_open, reader_cannot_write_the_header, .signal = SIGSEGV)
{
	struct ring r, reader;
	int fd = make(&r);
	cr_assert_eq(ring_open(&reader, fd), 0);
	signal(SIGSEGV, SIG_DFL);
	reader.header->exited = 1;
}

Test(ring_open, reader_cannot_make_its_mapping_writable)
{
	struct ring r, reader;
	int fd = make(&r);
	cr_assert_eq(ring_open(&reader, fd), 0);
	cr_assert_eq(mprotect(reader.header, 4096, PROT_READ | PROT_WRITE), -1);
	cr_assert_eq(mprotect(reader.bytes.data, 4096, PROT_READ | PROT_WRITE), -1);
	ring_close(&reader);
	ring_close(&r);
	close(fd);
}

Test(ring_open, unchanged_copy_is_accepted)
{
	struct ring r;
	int fd = forge(NULL, SEALS);
	cr_assert_eq(ring_open(&r, fd), 0);
	ring_close(&r);
	close(fd);
}

Test(ring_open, closed_descriptor)
{
	expect_refused(-1, -EBADF);
}

Test(ring_open, ordinary_file)
{
	FILE *f = tmpfile();
	cr_assert_not_null(f);
	int fd = dup(fileno(f));
	fclose(f);
	expect_refused(fd, -EPROTO);
}

Test(ring_open, pipe)
{
	int fds[2];
	cr_assert_eq(pipe(fds), 0);
	close(fds[1]);
	expect_refused(fds[0], -EPROTO);
}

Test(ring_open, shorter_than_a_header)
{
	int fd = memfd_create("short", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert_eq(ftruncate(fd, 100), 0);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, SEALS), 0);
	expect_refused(fd, -EPROTO);
}

#define SPOILT(name, statement)                                      \
	static void spoil_##name(struct ring_header *h)              \
	{                                                            \
		statement;                                           \
	}                                                            \
	Test(ring_open, header_with_##name)                          \
	{                                                            \
		expect_refused(forge(spoil_##name, SEALS), -EPROTO); \
	}

SPOILT(wrong_magic, h->magic ^= 1)
SPOILT(version_of_tomorrow, h->version = RING_VERSION + 1)
SPOILT(version_zero, h->version = 0)
SPOILT(no_bytes, h->bytes.size = 0)
SPOILT(size_that_is_no_power_of_two, h->bytes.size = 65536 - 4096)
SPOILT(size_below_a_page, h->bytes.size = 2048)
SPOILT(bytes_beyond_the_file, h->bytes.size *= 2)
SPOILT(huge_size, h->bytes.size = UINT64_C(1) << 63)
SPOILT(position_off_the_page, h->bytes.position += 8)
SPOILT(position_beyond_the_file, h->bytes.position = UINT64_MAX & ~UINT64_C(4095))
SPOILT(events_beyond_the_file, h->events.position = h->bytes.position)
SPOILT(events_of_odd_size, h->events.size = 4097)
SPOILT(log_shorter_than_a_record, h->events.size = 4096)
SPOILT(bytes_shorter_than_a_read, h->bytes.size = 4096)
