/*
 * Segments of a recording. Input: a file with any content. Each part is checked, and unpacked if it is a frame: reads
 * and results must be within it, and records that were read must be written as the same bytes.
 */
#include "shell/recording/segment.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

static void check_record(const struct segment_record *r, const uint8_t *bytes)
{
	static uint8_t again[SEGMENT_RECORD_HEAD + SEGMENT_PAYLOAD_MAX];
	unsigned rows, cols;
	uint64_t number;
	int status;
	bool known;
	size_t size = segment_put_record(r, again, sizeof again);
	FUZZ_CHECK(size == SEGMENT_RECORD_HEAD + r->length && memcmp(again, bytes, size) == 0);
	if (segment_parse_size(r, &rows, &cols))
		FUZZ_CHECK(rows >= 1 && rows <= SEGMENT_SIDE_MAX && cols >= 1 &&
			cols <= SEGMENT_SIDE_MAX);
	if (segment_parse_block_end(r, &number, &status))
		FUZZ_CHECK(status >= -1 && status <= 255);
	(void)segment_parse_exit(r, &status, &known);
}

static void check_records(const uint8_t *bytes, size_t length)
{
	struct segment_record r;
	size_t at = 0, before = 0;
	int rc;
	for (; (rc = segment_get_record(bytes, length, &at, &r)) > 0; before = at) {
		FUZZ_CHECK(at > before && at <= length && r.length <= SEGMENT_PAYLOAD_MAX);
		check_record(&r, bytes + before);
	}
	FUZZ_CHECK(rc == -EBADMSG || at == length);
}

static void check_part(
	struct segment_codec *c, enum segment_part part, const uint8_t *bytes, size_t size)
{
	static uint8_t records[SEGMENT_FRAME_MAX];
	uint8_t again[SEGMENT_HEAD_MAX];
	struct segment_head head;
	if (part == SEGMENT_PART_HEAD && segment_get_head(bytes, size, &head) == 0) {
		FUZZ_CHECK(name_is_id(head.id) && segment_put_head(&head, again) == size);
		FUZZ_CHECK(memcmp(again, bytes, size) == 0);
	}
	if (part == SEGMENT_PART_FRAME) {
		long length = segment_unpack(c, bytes, size, records);
		FUZZ_CHECK(length == -EBADMSG || (length >= 0 && length <= (long)SEGMENT_FRAME_MAX));
		if (length >= 0)
			check_records(records, (size_t)length);
	}
	if (part == SEGMENT_PART_INDEX) {
		size_t count = segment_count_entries(bytes, size);
		FUZZ_CHECK(count <= SEGMENT_INDEX_MAX);
		for (size_t i = 0; i < count; i++)
			(void)segment_entry(bytes, i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct segment_codec *c = segment_codec_create();
	check_records(data, size);
	for (size_t at = 0; at < size;) {
		size_t left = size - at < SEGMENT_PART_MAX ? size - at : SEGMENT_PART_MAX,
		       length = 0;
		enum segment_part part;
		/* A copy of its exact size. */
		uint8_t *bytes = malloc(left);
		memcpy(bytes, data + at, left);
		int rc = segment_find_part(bytes, left, &part, &length);
		FUZZ_CHECK(rc == 0 || rc == -EBADMSG || (rc == 1 && length > 0 && length <= left));
		if (rc == 1)
			check_part(c, part, bytes, length);
		free(bytes);
		if (rc != 1)
			break;
		at += length;
	}
	segment_codec_destroy(c);
	return 0;
}
