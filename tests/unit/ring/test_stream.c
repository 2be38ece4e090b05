#include "ring/stream.h"
#include "tests/lib/asan.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE ((size_t)4096)

static struct stream s;
static struct stream_shared *shared; /* with other processes too */
static int fd;

static void make(size_t position)
{
	fd = memfd_create("stream", MFD_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)(position + SIZE)), 0);
	shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*shared = (struct stream_shared){.size = SIZE, .position = position};
	const struct stream_storage storage = {SIZE, position, fd, true};
	cr_assert_eq(stream_map(&s, shared, &storage), 0);
}

static void set_up(void)
{
	make(0);
}

static void tear_down(void)
{
	stream_unmap(&s);
	munmap(shared, SIZE);
	close(fd);
}

static void restart(size_t position)
{
	tear_down();
	make(position);
}

#define SUITE .init = set_up, .fini = tear_down, .timeout = 60
TestSuite(stream_map, SUITE);
TestSuite(stream_read, SUITE);
TestSuite(stream_reserve, SUITE);
TestSuite(stream_model, SUITE);
TestSuite(stream_processes, SUITE);

static void put(const void *bytes, size_t n)
{
	memcpy(stream_reserve(&s, n), bytes, n);
	stream_commit(&s, n);
}

/* The byte at an offset, the same for all readers. */
static uint8_t byte_at(uint64_t offset)
{
	return (uint8_t)((offset * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

static void put_counted(size_t n)
{
	uint64_t head = stream_head(&s);
	uint8_t *at = stream_reserve(&s, n);
	for (size_t i = 0; i < n; i++)
		at[i] = byte_at(head + i);
	stream_commit(&s, n);
}

Test(stream_map, storage_is_mapped_twice_in_a_row)
{
	restart(SIZE);
	/* Compilers consider the two addresses different objects. */
	volatile uint8_t *data = s.data;
	data[0] = 'a';
	cr_assert_eq(data[SIZE], 'a');
	data[2 * SIZE - 1] = 'z';
	cr_assert_eq(data[SIZE - 1], 'z');
}

Test(stream_map, bad_descriptor_leaves_nothing)
{
	struct stream bad = {0};
	struct stream_shared of = {.size = SIZE};
	const struct stream_storage storage = {.size = SIZE, .fd = -1, .writable = true};
	cr_assert_eq(stream_map(&bad, &of, &storage), -EBADF);
	cr_assert_null(bad.data);
	stream_unmap(&bad);
}

Test(stream_map, reader_sees_bytes_and_cannot_write, .signal = SIGSEGV)
{
	struct stream reader;
	put("abc", 3);
	cr_assert_eq(
		stream_map(&reader, shared, &(struct stream_storage){.size = SIZE, .fd = fd}), 0);
	cr_assert_eq(memcmp(reader.data, "abc", 3), 0);
#ifdef ASAN
	signal(SIGSEGV, SIG_DFL); /* ASan would turn the signal into an exit code */
#endif
	reader.data[0] = 'x';
}

Test(stream_read, empty_stream_gives_nothing)
{
	uint64_t offset = 0;
	char text[4];
	cr_assert_eq(stream_read(&s, &offset, text, sizeof text), 0);
	cr_assert_eq(offset, 0);
	cr_assert_eq(stream_oldest(&s), 0);
	cr_assert_eq(stream_head(&s), 0);
}

Test(stream_read, read_returns_at_most_cap_bytes)
{
	uint64_t offset = 0;
	char text[4] = "";
	put("abcde", 5);
	cr_assert_eq(stream_read(&s, &offset, text, 3), 3);
	cr_assert_arr_eq(text, "abc", 3);
	cr_assert_eq(stream_read(&s, &offset, text, 3), 2);
	cr_assert_arr_eq(text, "de", 2);
	cr_assert_eq(stream_read(&s, &offset, text, 3), 0);
	cr_assert_eq(offset, 5);
}

Test(stream_read, reader_behind_oldest_is_moved_forward)
{
	uint64_t offset = 0;
	uint8_t bytes[SIZE];
	put_counted(SIZE);
	put_counted(100);
	cr_assert_eq(stream_oldest(&s), 100);
	cr_assert_eq(stream_read(&s, &offset, bytes, sizeof bytes), SIZE);
	cr_assert_eq(offset, SIZE + 100);
	for (size_t i = 0; i < SIZE; i++)
		cr_assert_eq(bytes[i], byte_at(100 + i));
}

Test(stream_read, reader_ahead_of_head_gets_nothing_and_stays)
{
	uint64_t offset = 77;
	char text[4];
	put("abc", 3);
	cr_assert_eq(stream_read(&s, &offset, text, sizeof text), 0);
	cr_assert_eq(offset, 77);
}

Test(stream_reserve, old_bytes_are_unsafe_before_the_new_ones_are_published)
{
	put_counted(SIZE);
	cr_assert(stream_is_intact(&s, 0));
	stream_reserve(&s, 10);
	cr_assert_not(stream_is_intact(&s, 9));
	cr_assert(stream_is_intact(&s, 10));
	cr_assert_eq(stream_head(&s), SIZE);
}

Test(stream_reserve, committing_less_keeps_the_mark)
{
	put_counted(SIZE);
	stream_reserve(&s, 1000);
	stream_commit(&s, 1);
	cr_assert_eq(stream_head(&s), SIZE + 1);
	cr_assert_eq(stream_oldest(&s), 1000, "bytes that may be overwritten are not whole");
}

/* All bytes ever written, kept beside the stream. */
struct model {
	uint8_t *all;
	uint64_t written, touched;
	struct random random;
};

static void model_write(struct model *m)
{
	size_t most = random_below(&m->random, 8) == 0 ? SIZE : 300;
	size_t reserved = random_below(&m->random, most + 1);
	size_t n = reserved > 0 ? random_below(&m->random, reserved + 1) : 0;
	uint8_t *at = stream_reserve(&s, reserved);
	for (size_t i = 0; i < reserved; i++)
		at[i] = (uint8_t)random_next(&m->random);
	memcpy(m->all + m->written, at, n);
	stream_commit(&s, n);
	if (m->written + reserved > m->touched)
		m->touched = m->written + reserved;
	m->written += n;
}

static void model_read(struct model *m, uint64_t *offset)
{
	static uint8_t got[SIZE + 100];
	uint64_t oldest = m->touched > SIZE ? m->touched - SIZE : 0;
	uint64_t from = *offset < oldest ? oldest : *offset;
	size_t cap = random_below(&m->random, sizeof got + 1);
	uint64_t left = m->written > from ? m->written - from : 0;
	size_t n = stream_read(&s, offset, got, cap);
	cr_assert_eq(n, left < cap ? left : cap);
	cr_assert_eq(*offset, from + n);
	if (n > 0)
		cr_assert_arr_eq(got, m->all + from, n);
	cr_assert_eq(stream_oldest(&s), oldest);
	cr_assert_eq(stream_head(&s), m->written);
}

Test(stream_model, behaves_like_an_array_of_all_bytes)
{
	enum { ROUNDS = 60000, READERS = 4 };
	struct model m = {.random = {42}};
	uint64_t offsets[READERS] = {0};
	m.all = malloc((size_t)ROUNDS * SIZE);
	cr_assert_not_null(m.all);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t *offset = &offsets[random_below(&m.random, READERS)];
		switch (random_below(&m.random, 5)) {
		case 0:
		case 1:
			model_write(&m);
			break;
		case 2: /* a reader that starts at a random offset */
			*offset = random_below(&m.random, m.written + 2);
			break;
		default:
			model_read(&m, offset);
		}
	}
	cr_assert_gt(m.written, 1000 * SIZE, "it has wrapped often");
	free(m.all);
}

/* Two processes: a reader gets the right bytes, or is told that it was lapped. */
static _Noreturn void write_until_killed(void)
{
	struct random r = {7};
	for (;;)
		put_counted(1 + random_below(&r, random_below(&r, 4) ? 200 : SIZE));
}

static int read_and_check(struct random r, bool slow)
{
	uint8_t got[SIZE];
	uint64_t offset = 0, lapped = 0, bytes = 0;
	while (bytes < (slow ? 256u : 4096u) << 10 || (slow && lapped < 20)) {
		uint64_t before = offset;
		size_t n = stream_read(&s, &offset, got, 1 + random_below(&r, sizeof got));
		lapped += offset - n != before;
		bytes += n;
		if (offset < before || offset - n < before)
			return 1;
		for (size_t k = 0; k < n; k++)
			if (got[k] != byte_at(offset - n + k))
				return 2;
		for (volatile int k = 0; slow && k < 2000; k++)
			;
	}
	return 0;
}

Test(stream_processes, readers_get_exact_bytes_or_are_moved)
{
	pid_t readers[2];
	pid_t writer = fork();
	if (writer == 0)
		write_until_killed();
	for (int i = 0; i < 2; i++) {
		readers[i] = fork();
		if (readers[i] == 0)
			_exit(read_and_check((struct random){99 + (uint64_t)i}, i == 1));
	}
	for (int i = 0; i < 2; i++) {
		int status;
		cr_assert_eq(waitpid(readers[i], &status, 0), readers[i]);
		cr_expect_eq(status, 0, "reader %d: %#x", i, status);
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
}

Test(stream_processes, holds_detects_a_torn_read)
{
	uint64_t torn = 0, whole = 0;
	pid_t writer = fork();
	if (writer == 0)
		write_until_killed();
	while (torn < 50 || whole < 50) {
		uint8_t got[SIZE];
		uint64_t from = stream_oldest(&s);
		size_t n = stream_head(&s) - from;
		if (n > SIZE)
			continue; /* not an atomic look at both */
		if (!stream_copy(&s, from, got, n)) {
			torn++;
			continue;
		}
		whole++;
		for (size_t i = 0; i < n; i++)
			cr_assert_eq(got[i], byte_at(from + i));
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
}
