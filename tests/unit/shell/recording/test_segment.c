#include "shell/recording/segment.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct segment_head head = {.epoch = UINT64_C(0xfedcba9876543210),
	.number = 7,
	.offset = UINT64_C(1) << 40,
	.time_us = UINT64_C(1795538118329908),
	.begun = 5,
	.ended = 4,
	.rows = 24,
	.cols = 1000,
	.id = "a:b@c.d-e_f"};

Test(segment_head, head_is_read_as_it_was_written)
{
	uint8_t bytes[SEGMENT_HEAD_MAX];
	struct segment_head again;
	enum segment_part part;
	size_t size = segment_put_head(&head, bytes), looked;
	cr_assert_eq(segment_find_part(bytes, size, &part, &looked), 1);
	cr_assert_eq(part, SEGMENT_PART_HEAD);
	cr_assert_eq(looked, size);
	cr_assert_eq(segment_get_head(bytes, size, &again), 0);
	cr_assert_eq(again.epoch, head.epoch);
	cr_assert_eq(again.number, head.number);
	cr_assert_eq(again.offset, head.offset);
	cr_assert_eq(again.time_us, head.time_us);
	cr_assert_eq(again.begun, head.begun);
	cr_assert_eq(again.ended, head.ended);
	cr_assert_eq(again.rows, head.rows);
	cr_assert_eq(again.cols, head.cols);
	cr_assert_str_eq(again.id, head.id);
	for (size_t n = 0; n < size; n++)
		cr_assert_eq(segment_find_part(bytes, n, &part, &looked), 0);
}

Test(segment_head, invalid_values_are_refused)
{
	static const struct {
		size_t at;
		uint8_t value;
	} odd[] = {{8, 'x'}, {64, 0}, {65, 0xff}, {66, 0xff}, {67, 0xff}, {68, '/'}, {68, '.'},
		{70, 0}};
	struct segment_head again;
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		uint8_t bytes[SEGMENT_HEAD_MAX];
		size_t size = segment_put_head(&head, bytes);
		if (odd[i].at == 64)
			bytes[65] = 0;
		bytes[odd[i].at] = odd[i].value;
		cr_assert_eq(segment_get_head(bytes, size, &again), -EBADMSG, "%zu", i);
	}
}

Test(segment_record, record_is_read_as_it_was_written)
{
	uint8_t bytes[256];
	struct segment_record again;
	const struct segment_record r = {.type = SEGMENT_OUTPUT,
		.offset = 9,
		.time_us = 10,
		.payload = (const uint8_t *)"hello",
		.length = 5};
	size_t at = 0;
	cr_assert_eq(segment_put_record(&r, bytes, SEGMENT_RECORD_HEAD + 4), 0);
	size_t size = segment_put_record(&r, bytes, sizeof bytes);
	cr_assert_eq(size, SEGMENT_RECORD_HEAD + 5);
	cr_assert_eq(segment_get_record(bytes, size, &at, &again), 1);
	cr_assert_eq(again.type, SEGMENT_OUTPUT);
	cr_assert_eq(again.offset, 9);
	cr_assert_eq(again.time_us, 10);
	cr_assert_eq(again.length, 5);
	cr_assert_arr_eq(again.payload, "hello", 5);
	cr_assert_eq(segment_get_record(bytes, size, &at, &again), 0);
	for (size_t n = 1; n < size; n++) {
		at = 0;
		cr_assert_eq(segment_get_record(bytes, n, &at, &again), -EBADMSG);
	}
}

Test(segment_record, payload_that_is_too_long_is_refused)
{
	uint8_t *bytes = calloc(1, SEGMENT_PAYLOAD_MAX + 64);
	struct segment_record r = {
		.type = SEGMENT_OUTPUT, .payload = bytes, .length = SEGMENT_PAYLOAD_MAX + 1};
	size_t at = 0;
	cr_assert_eq(segment_put_record(&r, bytes, SEGMENT_PAYLOAD_MAX + 64), 0);
	segment_put_number(bytes + 4, SEGMENT_PAYLOAD_MAX + 1, 4);
	cr_assert_eq(segment_get_record(bytes, SEGMENT_PAYLOAD_MAX + 64, &at, &r), -EBADMSG);
	free(bytes);
}

Test(segment_parse_size, sides_are_limited)
{
	unsigned rows, cols;
	for (unsigned n = 0; n <= SEGMENT_SIDE_MAX + 1; n += n < 2 ? 1 : 499) {
		uint8_t payload[4];
		segment_put_number(segment_put_number(payload, n, 2), 1, 2);
		const struct segment_record r = {.payload = payload, .length = 4};
		cr_assert_eq(segment_parse_size(&r, &rows, &cols), n >= 1 && n <= SEGMENT_SIDE_MAX);
	}
}

Test(segment_pack, frame_is_unpacked_and_damage_is_detected)
{
	uint8_t records[1000], frame[2000], *back = malloc(SEGMENT_FRAME_MAX);
	struct segment_codec *c = segment_codec_create();
	enum segment_part part;
	size_t looked;
	for (size_t i = 0; i < sizeof records; i++)
		records[i] = (uint8_t)(i * i >> 3);
	size_t size = segment_pack(c, false, records, sizeof records, frame, sizeof frame);
	cr_assert_gt(size, 0);
	cr_assert_eq(segment_find_part(frame, size, &part, &looked), 1);
	cr_assert_eq(part, SEGMENT_PART_FRAME);
	cr_assert_eq(looked, size);
	cr_assert_eq(segment_unpack(c, frame, size, back), sizeof records);
	cr_assert_arr_eq(back, records, sizeof records);
	for (size_t n = 0; n < size; n++)
		cr_assert_eq(segment_find_part(frame, n, &part, &looked), 0);
	frame[size - 1] ^= 1; /* of the checksum */
	cr_assert_eq(segment_unpack(c, frame, size, back), -EBADMSG);
	segment_codec_destroy(c);
	free(back);
}

Test(segment_unpack, frame_that_is_too_large_is_not_unpacked)
{
	size_t length = SEGMENT_FRAME_MAX + 1, room = segment_frame_bound(length);
	uint8_t *records = calloc(1, length), *frame = malloc(room);
	struct segment_codec *c = segment_codec_create();
	size_t size = segment_pack(c, true, records, length, frame, room);
	cr_assert_gt(size, 0);
	cr_assert_eq(segment_unpack(c, frame, size, records), -EBADMSG);
	segment_codec_destroy(c);
	free(records);
	free(frame);
}

Test(segment_index, entries_are_found_from_the_end)
{
	const struct segment_entry entries[] = {
		{SEGMENT_FRAME, 100, 1, 2}, {SEGMENT_BLOCK_BEGIN, 100, 3, 4}};
	uint8_t bytes[128];
	size_t size = segment_index_size(2);
	segment_put_index(entries, 2, bytes);
	cr_assert_eq(segment_parse_footer(bytes + size - SEGMENT_FOOTER), size);
	cr_assert_eq(segment_count_entries(bytes, size), 2);
	cr_assert_eq(segment_entry(bytes, 1).kind, SEGMENT_BLOCK_BEGIN);
	cr_assert_eq(segment_entry(bytes, 1).time_us, 4);
	segment_put_number(bytes + size - SEGMENT_FOOTER, UINT64_MAX, 8);
	cr_assert_eq(segment_parse_footer(bytes + size - SEGMENT_FOOTER), 0);
	cr_assert_eq(segment_count_entries(bytes, size), 0);
	cr_assert_eq(segment_count_entries(bytes, 8), 0);
}
