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

static struct ring r, reader;
static int fd = -1;

static int make(struct ring *to)
{
	int memfd;
	cr_assert_eq(ring_create(to, &small, &memfd), 0);
	return memfd;
}

static void set_up(void)
{
	fd = make(&r);
}

static void tear_down(void)
{
	ring_close(&reader);
	ring_close(&r);
	close(fd);
}

TestSuite(ring_create, .init = set_up, .fini = tear_down);
TestSuite(ring_open, .init = set_up, .fini = tear_down);

static void open_reader(void)
{
	cr_assert_eq(ring_open(&reader, fd), 0);
}

/* A copy of the ring with another header, for ring_open(). Returns its descriptor. */
static int forge(const struct ring_header *header, int seals)
{
	struct stat st;
	cr_assert_eq(fstat(fd, &st), 0);
	int forged = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert_eq(ftruncate(forged, st.st_size), 0);
	cr_assert_eq(pwrite(forged, header, sizeof *header, 0), (ssize_t)sizeof *header);
	cr_assert_eq(fcntl(forged, F_ADD_SEALS, seals), 0);
	return forged;
}

static void expect_refused(const char *name, int refused_fd, int rc)
{
	struct ring refused;
	cr_expect_eq(ring_open(&refused, refused_fd), rc, "%s", name);
	cr_expect_null(refused.header, "%s", name);
	cr_expect_null(refused.bytes.data, "%s", name);
	cr_expect_null(refused.events.data, "%s", name);
	ring_close(&refused); /* harmless */
	if (refused_fd >= 0)
		close(refused_fd);
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
	struct ring other;
	int other_fd = make(&other);
	cr_assert_neq(r.header->epoch, other.header->epoch);
	ring_close(&other);
	close(other_fd);
}

Test(ring_create, file_is_sealed_and_closes_on_exec)
{
	int seals = fcntl(fd, F_GET_SEALS);
	cr_assert_eq(seals & SEALS, SEALS);
	cr_assert_neq(seals & F_SEAL_SEAL, 0);
	cr_assert_eq(ftruncate(fd, 4096), -1);
	cr_assert_eq(ftruncate(fd, 1 << 30), -1);
	cr_assert_eq(pwrite(fd, "x", 1, 0), -1);
	cr_assert_eq(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	cr_assert_neq(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

Test(ring_create, writer_reopened_by_path_cannot_write)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int again = open(path, O_RDWR | O_CLOEXEC);
	if (again >= 0) {
		cr_assert_eq(pwrite(again, "x", 1, 4096), -1);
		close(again);
	}
}

Test(ring_create, creator_can_write_after_the_seals)
{
	char text[4] = "";
	uint64_t offset = 0;
	open_reader();
	memcpy(stream_reserve(&r.bytes, 3), "abc", 3);
	stream_commit(&r.bytes, 3);
	cr_assert_eq(stream_read(&reader.bytes, &offset, text, sizeof text), 3);
	cr_assert_str_eq(text, "abc");
	cr_assert_eq(reader.header->epoch, r.header->epoch);
}

Test(ring_create, untouched_pages_cost_no_memory)
{
	struct stat st;
	tear_down();
	cr_assert_eq(ring_create(&r, &(struct ring_options){.size = RING_SIZE_MAX}, &fd), 0);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_leq(st.st_blocks * 512, 64 << 10);
}

Test(ring_open, reader_cannot_write_bytes, .signal = SIGSEGV)
{
	open_reader();
	signal(SIGSEGV, SIG_DFL); /* not ASan's */
	reader.bytes.data[0] = 1;
}

Test(ring_open, reader_cannot_write_events, .signal = SIGSEGV)
{
	open_reader();
	signal(SIGSEGV, SIG_DFL);
	reader.events.data[0] = 1;
}

Test(ring_open, reader_cannot_write_the_header, .signal = SIGSEGV)
{
	open_reader();
	signal(SIGSEGV, SIG_DFL);
	reader.header->exited = 1;
}

Test(ring_open, reader_cannot_make_its_mapping_writable)
{
	open_reader();
	cr_assert_eq(mprotect(reader.header, 4096, PROT_READ | PROT_WRITE), -1);
	cr_assert_eq(mprotect(reader.bytes.data, 4096, PROT_READ | PROT_WRITE), -1);
}

Test(ring_open, unchanged_copy_is_accepted)
{
	int copy = forge(r.header, SEALS);
	cr_assert_eq(ring_open(&reader, copy), 0);
	close(copy);
}

Test(ring_open, other_files_are_refused)
{
	FILE *f = tmpfile();
	int fds[2], empty = memfd_create("short", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert_not_null(f);
	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(ftruncate(empty, 100), 0);
	cr_assert_eq(fcntl(empty, F_ADD_SEALS, SEALS), 0);
	expect_refused("closed descriptor", -1, -EBADF);
	expect_refused("ordinary file", dup(fileno(f)), -EPROTO);
	expect_refused("pipe", fds[0], -EPROTO);
	expect_refused("shorter than a header", empty, -EPROTO);
	fclose(f);
	close(fds[1]);
}

/* Change the header of a copy, which must be refused then. */
#define REFUSE(name, statement)                                  \
	do {                                                     \
		struct ring_header h = *r.header;                \
		statement;                                       \
		expect_refused(name, forge(&h, SEALS), -EPROTO); \
	} while (0)

Test(ring_open, invalid_headers_are_refused)
{
	REFUSE("wrong magic", h.magic ^= 1);
	REFUSE("version of tomorrow", h.version = RING_VERSION + 1);
	REFUSE("version zero", h.version = 0);
	REFUSE("no bytes", h.bytes.size = 0);
	REFUSE("size that is no power of two", h.bytes.size = 65536 - 4096);
	REFUSE("size below a page", h.bytes.size = 2048);
	REFUSE("bytes beyond the file", h.bytes.size *= 2);
	REFUSE("huge size", h.bytes.size = UINT64_C(1) << 63);
	REFUSE("position off the page", h.bytes.position += 8);
	REFUSE("position beyond the file", h.bytes.position = UINT64_MAX & ~UINT64_C(4095));
	REFUSE("events beyond the file", h.events.position = h.bytes.position);
	REFUSE("events of odd size", h.events.size = 4097);
	REFUSE("log shorter than a record", h.events.size = 4096);
	REFUSE("bytes shorter than a read", h.bytes.size = 4096);
}
