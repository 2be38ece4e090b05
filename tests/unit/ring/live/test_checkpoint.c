#include "ring/live/checkpoint.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define HEAD ((size_t)48) /* size of a slot's header */
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

/* The checkpoint's bytes are valid until the next call. */
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

/* The first byte of slot i in the memfd. */
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

/* The newest checkpoint's bytes as text, or NULL; valid until the next call. */
static const char *find_text(void)
{
	static char text[64];
	struct checkpoint c = {.offset = 7777};
	if (!find_checkpoint(&control, &c)) {
		cr_assert_eq(c.offset, 7777, "ret_checkpoint changed although nothing was found");
		return NULL;
	}
	cr_assert_lt(c.length, sizeof text);
	memcpy(text, c.bytes, c.length);
	text[c.length] = '\0';
	return text;
}

Test(checkpoint, none_at_first)
{
	cr_assert_null(find_text());
}

Test(checkpoint, is_read_as_it_was_written)
{
	struct checkpoint c;
	cr_assert(save(12345678901, "hello"));
	cr_assert(find_checkpoint(&control, &c));
	cr_assert_eq(c.offset, 12345678901);
	cr_assert(c.rows == 24 && c.cols == 80);
	cr_assert_eq(c.length, 5);
	cr_assert_arr_eq(c.bytes, "hello", 5);
}

Test(checkpoint, empty_checkpoint_is_valid)
{
	cr_assert(save(1, ""));
	cr_assert_str_eq(find_text(), "");
}

Test(checkpoint, newest_is_found)
{
	char text[16];
	for (unsigned i = 0; i < 20; i++) {
		snprintf(text, sizeof text, "number %u", i);
		cr_assert(save(i, text));
		cr_assert_str_eq(find_text(), text);
	}
}

Test(checkpoint, slots_are_written_in_turn)
{
	uint64_t before[2] = {0, 0};
	for (unsigned i = 0; i < 6; i++) {
		cr_assert(save(i, "text"));
		uint64_t now[2] = {get(slot(0) + NUMBER), get(slot(1) + NUMBER)};
		cr_assert_eq(now[i % 2], i + 1);
		cr_assert_eq(now[1 - i % 2], before[1 - i % 2], "the other slot does not change");
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
	/* It continues the sequence of the first server. */
	cr_assert(checkpoint_write(&other,
		&(struct checkpoint){
			.offset = 3, .rows = 1, .cols = 2, .bytes = "three", .length = 5}));
	cr_assert_str_eq(find_text(), "three");
	control_close(&other);
}

Test(checkpoint, fills_its_slot_exactly)
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
	cr_assert_str_eq(find_text(), "before", "a refused write changes nothing");
	for (unsigned i = 0; i < 2; i++)
		cr_assert(checkpoint_write(&control,
			&(struct checkpoint){
				.offset = i, .rows = 1, .cols = 1, .bytes = bytes, .length = room}));
	cr_assert(find_checkpoint(&control, &c));
	cr_assert(c.offset == 1 && c.length == room);
	cr_assert_arr_eq(c.bytes, bytes, room);
	slot(0)[HEAD + room - 1] ^= 1; /* The newest checkpoint, in slot 0, was written in part. */
	cr_assert(find_checkpoint(&control, &c));
	cr_assert(c.offset == 0 && c.length == room, "the slots do not overlap");
	cr_assert_arr_eq(c.bytes, bytes, room);
	free(bytes);
}

/* A holder of an older version makes a memfd of one page; other sizes may be too small for two slots. */
Test(checkpoint, memfd_too_small_for_two_slots)
{
	static const size_t sizes[] = {PAGE, PAGE + 1, 2 * PAGE, 3 * PAGE - 1};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		tear_down();
		make(sizes[i]);
		cr_expect_eq(checkpoint_capacity(&control), 0);
		cr_expect_not(save(1, "x"));
		cr_expect_not(save(1, ""));
		cr_expect_null(find_text());
	}
	tear_down();
	make(3 * PAGE);
	cr_assert_eq(checkpoint_capacity(&control), PAGE - HEAD);
	cr_assert(save(1, "x"));
}

/* A wrong byte anywhere but in the padding, which is not checked. */
Test(checkpoint_torn, a_wrong_byte_anywhere_gives_the_older_one)
{
	static const char newest[] = "the newest one";
	cr_assert(save(UINT64_C(0x0102030405060708), "the older one"));
	cr_assert(save(UINT64_C(0x1112131415161718), newest));
	for (size_t i = 0; i < HEAD + sizeof newest - 1; i++) {
		char *byte = slot(1) + i;
		/* The sequence number is not part of the checksum. */
		if (i >= NUMBER && i < NUMBER + 8)
			continue;
		for (unsigned bit = 0; bit < 8; bit++) {
			*byte ^= (char)(1u << bit);
			cr_assert_str_eq(find_text(), "the older one", "byte %zu, bit %u", i, bit);
			*byte ^= (char)(1u << bit);
		}
	}
	cr_assert_str_eq(find_text(), newest);
}

/* The server was killed while it wrote: the number is 0 then. */
Test(checkpoint_torn, number_0_is_invalid)
{
	cr_assert(save(1, "one"));
	cr_assert(save(2, "two"));
	set(slot(1) + NUMBER, 0);
	cr_assert_str_eq(find_text(), "one");
	set(slot(0) + NUMBER, 0);
	cr_assert_null(find_text());
}

Test(checkpoint_torn, next_one_overwrites_the_torn_slot)
{
	cr_assert(save(1, "one"));
	cr_assert(save(2, "two"));
	cr_assert(save(3, "three"));
	set(slot(0) + NUMBER, 0);
	cr_assert_str_eq(find_text(), "two");
	cr_assert(save(4, "four"));
	cr_assert_str_eq(find_text(), "four");
	set(slot(0) + NUMBER, 0);
	cr_assert_str_eq(find_text(), "two", "slot 1 was never torn");
}

Test(checkpoint_torn, wrong_lengths_are_never_used)
{
	static const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - HEAD, UINT64_C(1) << 63,
		5 * PAGE, 2 * PAGE - HEAD + 1, 2 * PAGE - HEAD, 4, 2, 0};
	cr_assert(save(1, "one"));
	cr_assert(save(2, "two"));
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		set(slot(1) + LENGTH, lengths[i]);
		cr_expect_str_eq(find_text(), "one", "%llx", (unsigned long long)lengths[i]);
		set(slot(0) + LENGTH, lengths[i]);
		cr_expect_null(find_text(), "%llx", (unsigned long long)lengths[i]);
		set(slot(0) + LENGTH, 3);
	}
}

Test(checkpoint_torn, garbage_in_both_slots_is_ignored_and_overwritten)
{
	memset(slot(0), 0xa5, 4 * PAGE);
	cr_assert_null(find_text());
	cr_assert(save(1, "one"));
	cr_assert_str_eq(find_text(), "one");
	cr_assert(save(2, "two"));
	cr_assert_str_eq(find_text(), "two");
	memset(slot(1), 0, 2 * PAGE);
	cr_assert_str_eq(find_text(), "one");
}
