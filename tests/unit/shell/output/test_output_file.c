#include "shell/output/output_file.h"

#include "shell/output/streams.h"
#include "tests/lib/folder.h"
#include "tests/lib/memory_ring.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/stat.h>

/* A ring with its labels, and the file with the same output. */
struct both {
	struct folder folder;
	struct ring ring;
	struct labels labels;
	struct output_file *file;
};

static struct both b;

static void make(void)
{
	b = (struct both){0};
	folder_make(&b.folder);
	memory_ring_make(&b.ring, RING_SIZE_MIN);
	labels_init(&b.labels, 0, EVENT_SOURCE_TERMINAL);
}

static void unmake(void)
{
	output_file_close(b.file);
	labels_finish(&b.labels);
	ring_close(&b.ring);
	folder_remove(&b.folder);
}

static void restart(void)
{
	unmake();
	make();
}

TestSuite(output_file, .init = make, .fini = unmake);

/* Runs of all sources with many CRs and LFs, as a holder writes them. */
static void fill(struct random *random, size_t length)
{
	static const char bytes[] = "ab\r\n\0\n";
	for (size_t done = 0; done < length;) {
		enum event_source source = (enum event_source)random_below(random, 4);
		labels_add(&b.labels, stream_head(&b.ring.bytes), source);
		size_t run = random_below(random, random_below(random, 20) == 0 ? 40000 : 50);
		for (; run > 0; run--, done++) {
			char byte = bytes[random_below(random, sizeof bytes - 1)];
			if (byte == '\n' && source != EVENT_SOURCE_TERMINAL)
				memory_ring_put(&b.ring, "\r", 1);
			memory_ring_put(&b.ring, &byte, 1);
		}
	}
}

static void save(void)
{
	const struct stream *bytes = &b.ring.bytes;
	uint64_t oldest = stream_oldest(bytes), head = stream_head(bytes);
	if (oldest < b.labels.floor)
		oldest = b.labels.floor;
	labels_forget(&b.labels, oldest);
	const struct output_file_facts facts = {.oldest = oldest,
		.head = head,
		.end_offset = head / 2,
		.ended_ms = 77,
		.wait_status = 0x300,
		.error = -ECONNRESET,
		.timed_out = true};
	int rc = output_file_begin(&b.file, b.folder.fd, &facts, &b.labels);
	cr_assert_eq(rc, 0);
	while ((rc = output_file_write(b.file, bytes)) > 0)
		;
	cr_assert_eq(rc, 0);
	cr_assert_eq(faccessat(b.folder.fd, OUTPUT_FILE, F_OK, 0), -1,
		"the file has its final name too early");
	cr_assert_eq(output_file_commit(b.file, b.folder.fd), 0);
	cr_assert_eq(faccessat(b.folder.fd, OUTPUT_FILE_NEW, F_OK, 0), -1);
}

static void reopen(void)
{
	output_file_close(b.file);
	b.file = NULL;
	cr_assert_eq(output_file_open(&b.file, b.folder.fd), 0);
}

/* Ring and file give the same pieces. */
static void assert_same(unsigned sources, size_t cap)
{
	static uint8_t one[1 << 16], other[1 << 16];
	struct streams_range ring = {.bytes = &b.ring.bytes,
		.labels = &b.labels,
		.end = stream_head(&b.ring.bytes),
		.sources = sources};
	struct streams_range file = {.file = b.file, .end = b.file->facts.head, .sources = sources};
	uint64_t at = 0, cursor = 0;
	bool some;
	do {
		struct streams_piece a, c;
		some = streams_read(&ring, &at, one, cap, &a);
		cr_assert_eq(streams_read(&file, &cursor, other, cap, &c), some);
		cr_assert_eq(a.lost, c.lost);
		cr_assert_eq(at, cursor);
		if (some) {
			cr_assert_eq(a.source, c.source);
			cr_assert_eq(a.length, c.length);
			cr_assert_eq(memcmp(one, other, a.length), 0);
		}
	} while (some);
}

Test(output_file, reads_like_the_ring)
{
	struct random random = {3};
	static const size_t lengths[] = {0, 1, 100, 5000, 60000, 300000};
	static const size_t caps[] = {1, 2, 3, 100, 4096, 16384};
	for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		restart();
		fill(&random, lengths[i]);
		save();
		for (unsigned again = 0; again < 2; again++) {
			for (unsigned k = 0; k < sizeof caps / sizeof *caps; k++) {
				assert_same(STREAMS_ALL, caps[k]);
				assert_same(STREAMS_STDERR, caps[k]);
			}
			reopen();
		}
	}
}

Test(output_file, output_larger_than_the_window)
{
	static uint8_t out[1 << 17];
	labels_add(&b.labels, 0, EVENT_SOURCE_STDOUT);
	for (unsigned i = 0; i < 60000; i++)
		memory_ring_put(&b.ring, &(char){(char)i}, 1);
	save();
	struct streams_range range = {
		.file = b.file, .end = b.file->facts.head, .sources = STREAMS_ALL};
	struct streams_piece piece;
	uint64_t cursor = 0;
	size_t length = 0;
	while (streams_read(&range, &cursor, out + length, sizeof out - length, &piece)) {
		cr_assert_lt(piece.length, OUTPUT_FILE_WINDOW);
		length += piece.length;
	}
	cr_assert_eq(cursor, 60000);
}

Test(output_file, facts_are_read_back)
{
	struct random random = {5};
	fill(&random, 200000);
	save();
	struct output_file_facts facts = b.file->facts;
	reopen();
	cr_assert_eq(b.file->facts.oldest, facts.oldest);
	cr_assert_gt(facts.oldest, 0);
	cr_assert_eq(b.file->facts.head, stream_head(&b.ring.bytes));
	cr_assert_eq(b.file->facts.end_offset, facts.end_offset);
	cr_assert_eq(b.file->facts.ended_ms, 77);
	cr_assert_eq(b.file->facts.wait_status, 0x300);
	cr_assert_eq(b.file->facts.error, -ECONNRESET);
	cr_assert(b.file->facts.timed_out);
	cr_assert_not(b.file->facts.kill_asked);
}

Test(output_file, missing_file)
{
	cr_assert_eq(output_file_open(&b.file, b.folder.fd), -ENOENT);
	cr_assert_eq(mkdirat(b.folder.fd, OUTPUT_FILE_NEW, 0700), 0);
	const struct output_file_facts facts = {.ended_ms = 1};
	cr_assert_eq(output_file_begin(&b.file, b.folder.fd, &facts, &b.labels), -EISDIR);
	cr_assert_null(b.file);
}

Test(output_file, truncated_output_is_lost)
{
	struct streams_piece piece;
	uint64_t cursor = 0;
	uint8_t byte;
	labels_add(&b.labels, 0, EVENT_SOURCE_STDOUT);
	memory_ring_put(&b.ring, "0123456789", 10);
	save();
	reopen();
	cr_assert_eq(truncate(strcat(strcat(b.folder.path, "/"), OUTPUT_FILE), 30), 0);
	struct streams_range range = {.file = b.file, .end = 10, .sources = STREAMS_ALL};
	cr_assert_not(streams_read(&range, &cursor, &byte, 1, &piece));
	cr_assert_eq(piece.lost, 10);
	cr_assert_eq(cursor, 10);
	b.folder.path[strlen(b.folder.path) - strlen("/" OUTPUT_FILE)] = '\0';
}

/* A damaged file is refused, or can be read. */
Test(output_file, damage_is_refused_or_harmless)
{
	struct random random = {9};
	struct stat st;
	fill(&random, 500);
	save();
	fstat(b.file->fd, &st);
	size_t size = (size_t)st.st_size;
	static uint8_t good[1 << 16], bad[1 << 16];
	cr_assert_eq(pread(b.file->fd, good, sizeof good, 0), (ssize_t)size);
	output_file_close(b.file);
	b.file = NULL;
	unsigned refused = 0;
	for (size_t i = 0; i < size; i++) {
		size_t length = i % 3 == 0 ? i : size;
		memcpy(bad, good, size);
		bad[i] ^= (uint8_t)(1 + random_below(&random, 255));
		int fd = openat(b.folder.fd, OUTPUT_FILE, O_WRONLY | O_TRUNC | O_CLOEXEC);
		cr_assert_eq(write(fd, bad, length), (ssize_t)length);
		close(fd);
		int rc = output_file_open(&b.file, b.folder.fd);
		refused += rc == -EBADMSG;
		cr_assert(rc == 0 || rc == -EBADMSG);
		if (rc == 0) {
			struct streams_range range = {
				.file = b.file, .end = b.file->facts.head, .sources = STREAMS_ALL};
			struct streams_piece piece;
			for (uint64_t at = 0; streams_read(&range, &at, bad, 100, &piece);)
				;
			output_file_close(b.file);
			b.file = NULL;
		}
	}
	cr_assert_geq(refused, size / 3);
}
