#include "ring/screen/grid/scrollback.h"
#include "tests/lib/random.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 2000u

static struct scrollback b, plain, frozen;
static struct block_reader *reader;
static struct block *block;

/* Line n of a log: a number, words and some colours. */
static struct line *make(unsigned n, unsigned length)
{
	struct line *line = line_create(length);
	char text[64];
	snprintf(text, sizeof text, "[%u] compiling object number %u of many", n, n * 7919 % 1000);
	for (unsigned i = 0; i < length; i++)
		line_put(line, i, cell_make((uint8_t)text[i % strlen(text)], 1, i / 9 % 3));
	line->offset = 1000 + n * 61;
	line->wrapped = n % 3 == 1;
	return line;
}

static void push(struct scrollback *to, unsigned n, unsigned length, unsigned times)
{
	struct line *line = make(n, length);
	cr_assert(scrollback_push_many(to, line, times));
	free(line);
}

static void fill(unsigned lines)
{
	scrollback_finish(&b);
	scrollback_init(&b, lines);
	for (unsigned i = 0; i < lines; i++)
		push(&b, i, 40 + i % 50, 1);
}

static void set_up(void)
{
	scrollback_init(&plain, 1000);
	scrollback_init(&frozen, 1000);
}

static void finish(void)
{
	scrollback_finish(&b);
	scrollback_finish(&plain);
	scrollback_finish(&frozen);
}

TestSuite(scrollback_freeze, .init = set_up, .fini = finish);
TestSuite(scrollback_thaw, .fini = finish);

static unsigned freeze(void)
{
	return scrollback_freeze(&b, 100, BLOCK_BYTES, UINT_MAX);
}

static void expect_line(const struct packed *p, unsigned n)
{
	struct line *want = make(n, 40 + n % 50), *line = packed_unpack(p, want->length);
	cr_assert_eq(p->extent, want->length);
	cr_expect_eq(p->offset, want->offset);
	cr_expect_eq(p->wrapped, want->wrapped);
	cr_expect_eq(memcmp(line->cells, want->cells, want->length * sizeof *want->cells), 0);
	free(want);
	free(line);
}

/* `plain` and `frozen` have the same lines. */
static void expect_same(void)
{
	cr_assert_eq(plain.count, frozen.count);
	cr_assert_eq(plain.dropped, frozen.dropped);
	for (unsigned i = 0; i < plain.count; i++) {
		const struct packed *x = scrollback_get(&plain, i), *y = scrollback_get(&frozen, i);
		cr_assert_eq(packed_size(x), packed_size(y), "line %u", i);
		cr_assert_eq(x->wrapped, y->wrapped, "line %u", i);
		cr_assert_eq(x->offset, y->offset, "line %u", i);
		cr_assert_eq(memcmp(packed_text(x), packed_text(y), x->bytes), 0, "line %u", i);
	}
}

Test(scrollback_freeze, frozen_lines_are_readable_and_take_less_memory)
{
	fill(LINES);
	size_t before = scrollback_memory(&b);
	cr_expect_gt(freeze(), 1);
	cr_expect_eq(b.count, LINES);
	cr_expect_gt(b.frozen_lines, LINES / 2);
	cr_expect_geq(b.used, 100);
	cr_expect_lt(scrollback_memory(&b) * 2, before);
	for (unsigned i = 0; i < LINES; i++)
		expect_line(scrollback_get(&b, i), i);
	for (unsigned i = LINES; i-- > 0;)
		expect_line(scrollback_get(&b, i), i);
	cr_expect(scrollback_is_whole(&b));
	size_t reading = scrollback_memory(&b);
	scrollback_drop_cache(&b);
	cr_expect_lt(scrollback_memory(&b), reading);
}

Test(scrollback_freeze, few_lines_are_not_frozen)
{
	fill(150);
	cr_expect_not(scrollback_can_freeze(&b, 100, BLOCK_BYTES));
	cr_expect_eq(freeze(), 0);
	cr_expect_null(b.frozen);
	cr_expect_eq(scrollback_freeze(&b, 0, 1, 3), 3, "no more than requested");
	cr_expect_eq(b.frozen_lines, 3);
	cr_expect_gt(scrollback_freeze(&b, 0, 1, UINT_MAX), 0);
	cr_expect_eq(b.used, 0);
	cr_expect_not(scrollback_can_freeze(&b, 0, 1));
	cr_expect_eq(scrollback_freeze(&b, 0, 1, 1), 0);
	push(&b, 7, 47, 1);
	expect_line(scrollback_get(&b, 149), 7);
	expect_line(scrollback_get(&b, 0), 1);
}

Test(scrollback_freeze, frozen_lines_are_dropped_one_by_one)
{
	fill(LINES);
	freeze();
	for (unsigned i = 0; i < LINES; i++) {
		push(&b, LINES + i, 40 + (LINES + i) % 50, 1);
		cr_assert_eq(b.count, LINES);
		cr_assert_eq(b.dropped, i + 1);
		expect_line(scrollback_get(&b, 0), i + 1);
		expect_line(scrollback_get(&b, LINES - 1), LINES + i);
	}
	cr_expect_null(b.frozen);
	cr_expect_eq(b.bytes, b.stored);
}

Test(scrollback_freeze, bytes_stay_bounded)
{
	struct random r = {1};
	unsigned made = 0;
	for (unsigned i = 0; i < 3000; i++) {
		unsigned length = random_below(&r, 4) ? 1000 : 30,
			 times = random_below(&r, 9) ? 1 : 5;
		struct line *line = make(i, length);
		for (unsigned k = 0; k < length; k++)
			line->cells[k].style = k;
		scrollback_push_many(&plain, line, times);
		scrollback_push_many(&frozen, line, times);
		free(line);
		if (i % 20 == 0)
			made += scrollback_freeze(&frozen, 10, 30000, UINT_MAX);
		cr_assert_eq(plain.count, frozen.count, "%u", i);
	}
	cr_expect_gt(made, 100);
	cr_expect_lt(frozen.count, 500);
	expect_same();
	cr_assert(scrollback_thaw(&frozen));
	cr_expect_eq(plain.bytes, frozen.bytes);
}

/* Unwrapping lines of a run splits the run, until one block becomes two. */
Test(scrollback_freeze, frozen_lines_can_be_unwrapped)
{
	struct random r = {2};
	for (unsigned i = 0; i < 20; i++) {
		push(&plain, 1 + 3 * i, 300, 20);
		push(&frozen, 1 + 3 * i, 300, 20);
	}
	scrollback_freeze(&frozen, 0, BLOCK_BYTES, UINT_MAX);
	scrollback_freeze(&frozen, 0, 1, UINT_MAX);
	cr_assert_eq(frozen.frozen_lines, 400);
	for (unsigned i = 0; i < 300; i++) {
		unsigned n = (unsigned)random_below(&r, 350);
		scrollback_unwrap(&plain, n);
		scrollback_unwrap(&frozen, n);
	}
	scrollback_drop(&plain, 13);
	scrollback_drop(&frozen, 13);
	expect_same();
	cr_assert(scrollback_thaw(&frozen));
	expect_same();
	cr_expect_eq(plain.bytes, frozen.bytes);
}

Test(scrollback_thaw, gives_the_same_as_without_freezing)
{
	fill(LINES);
	size_t bytes = b.bytes, stored = b.stored;
	freeze();
	scrollback_drop(&b, 0);
	cr_assert(scrollback_thaw(&b));
	cr_expect_null(b.frozen);
	cr_expect_eq(b.bytes, bytes);
	cr_expect_eq(b.stored, stored);
	for (unsigned i = 0; i < LINES; i++)
		expect_line(scrollback_get(&b, i), i);
}

static struct block *make_block(unsigned lines)
{
	struct block_writer *w = block_writer_create();
	fill(lines);
	for (unsigned i = 0; i < lines; i++)
		cr_assert(block_writer_add(w, scrollback_get(&b, i), 1));
	struct block *made = block_writer_finish(w);
	cr_assert_not_null(made);
	block_writer_destroy(w);
	return made;
}

static void open_block(void)
{
	reader = block_reader_create();
	block = make_block(20);
}

static void close_block(void)
{
	free(block);
	block_reader_destroy(reader);
	finish();
}

TestSuite(block, .init = open_block, .fini = close_block);
TestSuite(frozen, .fini = finish);

Test(block, any_flipped_bit_is_detected)
{
	struct block_lines *lines;
	cr_assert_eq(block_read(reader, block, &lines), 0);
	cr_expect_eq(lines->count, 20);
	free(lines);
	for (uint32_t i = 0; i < block->size * 8; i++) {
		block->bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		int rc = block_read(reader, block, &lines);
		if (rc == 0) { /* some bits of the format are unused */
			expect_line(
				(struct packed *)(void *)(lines->bytes + lines->line[19].at), 19);
			free(lines);
		} else {
			cr_expect_eq(rc, -EBADMSG, "bit %u", i);
		}
		block->bytes[i / 8] ^= (uint8_t)(1u << i % 8);
	}
}

Test(block, wrong_sizes_are_detected)
{
	struct block_lines *lines;
	uint32_t *const fields[] = {&block->entries, &block->stored, &block->coded, &block->size};
	for (unsigned i = 0; i < 4; i++) {
		uint32_t was = *fields[i];
		*fields[i] = was - 8;
		cr_expect_eq(block_read(reader, block, &lines), -EBADMSG, "field %u", i);
		*fields[i] = was;
	}
}

Test(block, becomes_full)
{
	struct block_writer *w = block_writer_create();
	unsigned added = 0;
	fill(LINES);
	while (block_writer_add(w, scrollback_get(&b, added), 1))
		added++;
	free(block);
	block = block_writer_finish(w);
	cr_expect_eq(block->entries, added);
	cr_expect_leq(block->stored, BLOCK_BYTES);
	cr_expect_gt(block->stored, BLOCK_BYTES - 200);
	cr_expect(block_writer_add(w, scrollback_get(&b, added), 1), "the next block starts empty");
	block_writer_destroy(w);
}

/* A block that is damaged in the middle. */
Test(frozen, damaged_block_is_reported)
{
	struct frozen *f = frozen_create();
	struct block *good = make_block(20), *bad = make_block(20);
	uint64_t end;
	cr_assert(frozen_append(f, good, 5, 25, 100));
	cr_assert(frozen_append(f, bad, 25, 45, 100));
	bad->bytes[bad->size / 2] ^= 0xff;
	cr_assert_not_null(frozen_get(f, 24, &end));
	cr_expect_eq(end, 25);
	cr_expect_not(frozen_failed(f));
	cr_expect_null(frozen_get(f, 25, NULL));
	cr_expect(frozen_failed(f));
	expect_line(frozen_get(f, 5, NULL), 0);
	cr_expect(frozen_failed(f), "the failure stays until the cache is dropped");
	frozen_drop_cache(f);
	cr_expect_not(frozen_failed(f));
	frozen_destroy(f);
}
