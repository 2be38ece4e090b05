#include "ring/live/checkpoint.h"
#include "tests/lib/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define HEAD ((size_t)48) /* bytes of a slot before its checkpoint */
#define NUMBER ((size_t)8)
#define LENGTH ((size_t)32)

static struct control control;
static int fd;

static void make(size_t size)
{
	cr_assert_eq(control_create(&control, size, &fd), 0);
}

static void set_up(void)
{
	make(5 * PAGE);
}

static void tear_down(void)
{
	control_close(&control);
	close(fd);
}

/* Its bytes are good until the next call. */
static bool find_checkpoint(const struct control *of, struct checkpoint *ret_checkpoint)
{
	static void *bytes;
	free(bytes);
	bytes = NULL;
	return checkpoint_find(of, ret_checkpoint, &bytes);
}

TestSuite(checkpoint, .init = set_up, .fini = tear_down);
TestSuite(checkpoint_torn, .init = set_up, .fini = tear_down);

static bool save(uint64_t offset, const char *text)
{
	return checkpoint_write(&control,
		&(struct checkpoint){.offset = offset,
			.rows = 24,
			.cols = 80,
			.bytes = text,
			.length = strlen(text)});
}

/* The first byte of a slot, as it lies in the memfd. */
static char *slot(unsigned i)
{
	return (char *)control.page + PAGE + i * 2 * PAGE;
}

static uint64_t get(const char *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

static void set(char *at, uint64_t value)
{
	memcpy(at, &value, sizeof value);
}

/* What is found, or NULL; it is good until the next call. */
static const char *found(void)
{
	static char text[64];
	struct checkpoint c = {.offset = 7777};
	if (!find_checkpoint(&control, &c)) {
		cr_assert_eq(c.offset, 7777, "nothing is found, but written");
		return NULL;
	}
	cr_assert_lt(c.length, sizeof text);
	memcpy(text, c.bytes, c.length);
	text[c.length] = '\0';
	return text;
}

Test(checkpoint, none_at_first)
{
	cr_assert_null(found());
}

Test(checkpoint, comes_back_as_it_was)
{
	struct checkpoint c;
	cr_assert(save(12345678901, "hello"));
	cr_assert(find_checkpoint(&control, &c));
	cr_assert_eq(c.offset, 12345678901);
	cr_assert(c.rows == 24 && c.cols == 80);
	cr_assert_eq(c.length, 5);
	cr_assert_arr_eq(c.bytes, "hello", 5);
}

Test(checkpoint, of_no_bytes_is_one)
{
	cr_assert(save(1, ""));
	cr_assert_str_eq(found(), "");
}

Test(checkpoint, newest_is_found)
{
	char text[16];
	for (unsigned i = 0; i < 20; i++) {
		snprintf(text, sizeof text, "number %u", i);
		cr_assert(save(i, text));
		cr_assert_str_eq(found(), text);
	}
}

Test(checkpoint, slots_are_written_in_turn)
{
	uint64_t before[2] = {0, 0};
	for (unsigned i = 0; i < 6; i++) {
		cr_assert(save(i, "text"));
		uint64_t now[2] = {get(slot(0) + NUMBER), get(slot(1) + NUMBER)};
		cr_assert_eq(now[i % 2], i + 1);
		cr_assert_eq(now[1 - i % 2], before[1 - i % 2], "the other one is left alone");
		memcpy(before, now, sizeof now);
	}
}

Test(checkpoint, is_found_by_another_server)
{
	struct control other;
	struct checkpoint c;
	cr_assert(save(1, "one"));
	cr_assert(save(2, "two"));
	cr_assert_eq(control_open(&other, fd), 0);
	cr_assert(find_checkpoint(&other, &c));
	cr_assert_eq(c.offset, 2);
	cr_assert_arr_eq(c.bytes, "two", 3);
	/* And it goes on where the one before was. */
	cr_assert(checkpoint_write(&other,
		&(struct checkpoint){
			.offset = 3, .rows = 1, .cols = 2, .bytes = "three", .length = 5}));
	cr_assert_str_eq(found(), "three");
	control_close(&other);
}

Test(checkpoint, takes_all_the_room_and_not_a_byte_more)
{
	struct checkpoint c;
	size_t room = checkpoint_capacity(&control);
	char *bytes = malloc(room + 1);
	cr_assert_eq(room, 2 * PAGE - HEAD);
	memset(bytes, 'x', room + 1);
	cr_assert(save(1, "before"));
	cr_assert_not(checkpoint_write(&control,
		&(struct checkpoint){.rows = 1, .cols = 1, .bytes = bytes, .length = room + 1}));
	cr_assert_not(checkpoint_write(&control,
		&(struct checkpoint){.rows = 1, .cols = 1, .bytes = bytes, .length = SIZE_MAX}));
	cr_assert_str_eq(found(), "before", "what is refused touches nothing");
	for (unsigned i = 0; i < 2; i++)
		cr_assert(checkpoint_write(&control,
			&(struct checkpoint){
				.offset = i, .rows = 1, .cols = 1, .bytes = bytes, .length = room}));
	cr_assert(find_checkpoint(&control, &c));
	cr_assert(c.offset == 1 && c.length == room);
	cr_assert_arr_eq(c.bytes, bytes, room);
	set(slot(0) + NUMBER, 0); /* there the newest is, for "before" was in it */
	cr_assert(find_checkpoint(&control, &c));
	cr_assert(c.offset == 0 && c.length == room, "they do not overlap");
	cr_assert_arr_eq(c.bytes, bytes, room);
	free(bytes);
	ASSERT_NO_LEAKS();
}

/* A holder of an older version makes a memfd of one page; others may be too small for two slots. */
Test(checkpoint, memfd_without_room)
{
	static const size_t sizes[] = {PAGE, PAGE + 1, 2 * PAGE, 3 * PAGE - 1};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		tear_down();
		make(sizes[i]);
		cr_expect_eq(checkpoint_capacity(&control), 0);
		cr_expect_not(save(1, "x"));
		cr_expect_not(save(1, ""));
		cr_expect_null(found());
	}
	tear_down();
	make(3 * PAGE);
	cr_assert_eq(checkpoint_capacity(&control), PAGE - HEAD);
	cr_assert(save(1, "x"));
}

/* Wherever it is wrong. The padding behind its last byte is nobody's. */
Test(checkpoint_torn, a_wrong_byte_anywhere_gives_the_older_one)
{
	static const char newest[] = "the newest one";
	cr_assert(save(UINT64_C(0x0102030405060708), "the older one"));
	cr_assert(save(UINT64_C(0x1112131415161718), newest));
	for (size_t i = 0; i < HEAD + sizeof newest - 1; i++) {
		char *byte = slot(1) + i;
		/* Another number may be as good: it is the order, and no part of what is kept. */
		if (i >= NUMBER && i < NUMBER + 8)
			continue;
		for (unsigned bit = 0; bit < 8; bit++) {
			*byte ^= (char)(1u << bit);
			cr_assert_str_eq(found(), "the older one", "byte %zu, bit %u", i, bit);
			*byte ^= (char)(1u << bit);
		}
	}
	cr_assert_str_eq(found(), newest);
}

Test(checkpoint_torn, wrong_ones_are_none)
{
	cr_assert(save(1, "one"));
	cr_assert(save(2, "two"));
	for (unsigned i = 0; i < 2; i++)
		slot(i)[HEAD] ^= 1;
	cr_assert_null(found());
}

/* Killed while it wrote: the number is 0 then. */
Test(checkpoint_torn, number_0_is_none)
{
	cr_assert(save(1, "one"));
	cr_assert(save(2, "two"));
	set(slot(1) + NUMBER, 0);
	cr_assert_str_eq(found(), "one");
	set(slot(0) + NUMBER, 0);
	cr_assert_null(found());
}

Test(checkpoint_torn, the_next_is_written_over_it)
{
	cr_assert(save(1, "one"));
	cr_assert(save(2, "two"));
	cr_assert(save(3, "three"));
	set(slot(0) + NUMBER, 0);
	cr_assert_str_eq(found(), "two");
	cr_assert(save(4, "four"));
	cr_assert_str_eq(found(), "four");
	set(slot(0) + NUMBER, 0);
	cr_assert_str_eq(found(), "two", "that one was whole all the time");
}

Test(checkpoint_torn, half_of_the_bytes)
{
	struct checkpoint c;
	size_t room = checkpoint_capacity(&control);
	char *a = malloc(room), *b = malloc(room);
	memset(a, 'a', room);
	memset(b, 'b', room);
	cr_assert(save(1, "older"));
	cr_assert(checkpoint_write(&control,
		&(struct checkpoint){.offset = 2, .rows = 1, .cols = 1, .bytes = a, .length = room}));
	cr_assert(find_checkpoint(&control, &c));
	cr_assert_eq(c.offset, 2);
	/* As if the number had reached the memory before the rest. */
	memcpy(slot(1) + HEAD, b, room / 2);
	cr_assert_str_eq(found(), "older");
	free(a);
	free(b);
}

Test(checkpoint_torn, garbage_for_a_length_is_never_read)
{
	static const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - HEAD, UINT64_C(1) << 63,
		5 * PAGE, 2 * PAGE - HEAD + 1, 2 * PAGE - HEAD, 4, 2, 0};
	cr_assert(save(1, "one"));
	cr_assert(save(2, "two"));
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		set(slot(1) + LENGTH, lengths[i]);
		cr_expect_str_eq(found(), "one", "%llx", (unsigned long long)lengths[i]);
		set(slot(0) + LENGTH, lengths[i]);
		cr_expect_null(found(), "%llx", (unsigned long long)lengths[i]);
		set(slot(0) + LENGTH, 3);
	}
}

Test(checkpoint_torn, garbage_all_over_is_none_and_does_not_stay)
{
	memset(slot(0), 0xa5, 4 * PAGE);
	cr_assert_null(found());
	cr_assert(save(1, "one"));
	cr_assert_str_eq(found(), "one");
	cr_assert(save(2, "two"));
	cr_assert_str_eq(found(), "two");
	memset(slot(1), 0, 2 * PAGE);
	cr_assert_str_eq(found(), "one");
}
