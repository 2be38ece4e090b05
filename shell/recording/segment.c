/*
 * Numbers are little endian. Head and index are skippable zstd frames, so that `zstd -dc` of a segment prints
 * its records. The checksum of a frame shows whether it is complete.
 */
#include "shell/recording/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define MAGIC_HEAD 0x184d2a52u /* RFC 8878, 3.1.2: skippable frames */
#define MAGIC_INDEX 0x184d2a53u
#define MAGIC_SKIP 0x184d2a50u /* to ...5f */
#define MAGIC_FRAME 0xfd2fb528u
#define SKIP_HEAD 8u /* magic and length */

#define HEAD_FIXED 60u /* bytes before the id */
#define LEVEL_NOW 1    /* while the session runs */
#define LEVEL_BEST 3   /* when sealing */

/* Not NUL-terminated. */
static const char head_text[8] = {'R', 'S', 'R', 'E', 'C', '0', '0', '1'};
static const char index_text[8] = {'R', 'S', 'I', 'N', 'D', 'E', 'X', '1'};

uint64_t segment_get_number(const uint8_t *bytes, unsigned width)
{
	uint64_t number = 0;
	for (unsigned i = 0; i < width; i++)
		number |= (uint64_t)bytes[i] << (8 * i);
	return number;
}

uint8_t *segment_put_number(uint8_t *to, uint64_t number, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		*to++ = (uint8_t)(number >> (8 * i));
	return to;
}

/* The head */

size_t segment_put_head(const struct segment_head *h, uint8_t *to)
{
	size_t id = strlen(h->id);
	uint8_t *at = segment_put_number(to, MAGIC_HEAD, 4);
	at = segment_put_number(at, HEAD_FIXED + id, 4);
	memcpy(at, head_text, 8);
	at += 8;
	at = segment_put_number(at, h->epoch, 8);
	at = segment_put_number(at, h->number, 8);
	at = segment_put_number(at, h->offset, 8);
	at = segment_put_number(at, h->time_us, 8);
	at = segment_put_number(at, h->begun, 8);
	at = segment_put_number(at, h->ended, 8);
	at = segment_put_number(at, h->rows, 2);
	at = segment_put_number(at, h->cols, 2);
	memcpy(at, h->id, id);
	return (size_t)(at - to) + id;
}

int segment_get_head(const uint8_t *part, size_t size, struct segment_head *ret_head)
{
	const uint8_t *at = part + SKIP_HEAD;
	size_t id = size - SKIP_HEAD - HEAD_FIXED;
	if (size < SKIP_HEAD + HEAD_FIXED || id > NAME_ID_MAX || memcmp(at, head_text, 8) != 0)
		return -EBADMSG;
	struct segment_head h = {.epoch = segment_get_number(at + 8, 8),
		.number = segment_get_number(at + 16, 8),
		.offset = segment_get_number(at + 24, 8),
		.time_us = segment_get_number(at + 32, 8),
		.begun = segment_get_number(at + 40, 8),
		.ended = segment_get_number(at + 48, 8),
		.rows = (unsigned)segment_get_number(at + 56, 2),
		.cols = (unsigned)segment_get_number(at + 58, 2)};
	memcpy(h.id, at + HEAD_FIXED, id);
	if (strlen(h.id) != id || !name_is_id(h.id) || h.rows < 1 || h.cols < 1 ||
		h.rows > SEGMENT_SIDE_MAX || h.cols > SEGMENT_SIDE_MAX)
		return -EBADMSG;
	*ret_head = h;
	return 0;
}

/* Records */

size_t segment_put_record(const struct segment_record *r, uint8_t *to, size_t room)
{
	if (r->length > SEGMENT_PAYLOAD_MAX || room < SEGMENT_RECORD_HEAD + r->length)
		return 0;
	uint8_t *at = segment_put_number(to, r->type, 4);
	at = segment_put_number(at, r->length, 4);
	at = segment_put_number(at, r->offset, 8);
	at = segment_put_number(at, r->time_us, 8);
	if (r->length > 0)
		memcpy(at, r->payload, r->length);
	return SEGMENT_RECORD_HEAD + r->length;
}

int segment_get_record(
	const uint8_t *bytes, size_t length, size_t *at, struct segment_record *ret_record)
{
	size_t left = length - *at;
	const uint8_t *from = bytes + *at;
	if (left == 0)
		return 0;
	if (left < SEGMENT_RECORD_HEAD)
		return -EBADMSG;
	size_t payload = (size_t)segment_get_number(from + 4, 4);
	if (payload > SEGMENT_PAYLOAD_MAX || payload > left - SEGMENT_RECORD_HEAD)
		return -EBADMSG;
	*ret_record = (struct segment_record){.type = (enum segment_type)segment_get_number(from, 4),
		.offset = segment_get_number(from + 8, 8),
		.time_us = segment_get_number(from + 16, 8),
		.payload = from + SEGMENT_RECORD_HEAD,
		.length = payload};
	*at += SEGMENT_RECORD_HEAD + payload;
	return 1;
}

static bool is_side(unsigned n)
{
	return n >= 1 && n <= SEGMENT_SIDE_MAX;
}

bool segment_parse_size(const struct segment_record *r, unsigned *ret_rows, unsigned *ret_cols)
{
	if (r->length != 4)
		return false;
	unsigned rows = (unsigned)segment_get_number(r->payload, 2),
		 cols = (unsigned)segment_get_number(r->payload + 2, 2);
	if (!is_side(rows) || !is_side(cols))
		return false;
	*ret_rows = rows;
	*ret_cols = cols;
	return true;
}

bool segment_parse_block_end(const struct segment_record *r, uint64_t *ret_start, int *ret_status)
{
	if (r->length != 12)
		return false;
	*ret_start = segment_get_number(r->payload, 8);
	*ret_status = (int)(int32_t)segment_get_number(r->payload + 8, 4);
	return *ret_status >= -1 && *ret_status <= 255;
}

bool segment_parse_exit(const struct segment_record *r, int *ret_status, bool *ret_known)
{
	if (r->length != 8)
		return false;
	*ret_status = (int)(int32_t)segment_get_number(r->payload, 4);
	*ret_known = segment_get_number(r->payload + 4, 4) == 1;
	return true;
}

/* The index */

size_t segment_index_size(size_t count)
{
	return SKIP_HEAD + count * SEGMENT_ENTRY + SEGMENT_FOOTER;
}

void segment_put_index(const struct segment_entry *entries, size_t count, uint8_t *to)
{
	size_t size = segment_index_size(count);
	to = segment_put_number(to, MAGIC_INDEX, 4);
	to = segment_put_number(to, size - SKIP_HEAD, 4);
	for (size_t i = 0; i < count; i++) {
		to = segment_put_number(to, entries[i].kind, 8);
		to = segment_put_number(to, entries[i].position, 8);
		to = segment_put_number(to, entries[i].offset, 8);
		to = segment_put_number(to, entries[i].time_us, 8);
	}
	to = segment_put_number(to, size, 8);
	memcpy(to, index_text, 8);
}

size_t segment_parse_footer(const uint8_t footer[SEGMENT_FOOTER])
{
	uint64_t size = segment_get_number(footer, 8);
	bool is_index = memcmp(footer + 8, index_text, 8) == 0 && size >= segment_index_size(0) &&
		size <= segment_index_size(SEGMENT_INDEX_MAX) &&
		(size - segment_index_size(0)) % SEGMENT_ENTRY == 0;
	return is_index ? (size_t)size : 0;
}

size_t segment_count_entries(const uint8_t *part, size_t size)
{
	if (size < segment_index_size(0) ||
		segment_parse_footer(part + size - SEGMENT_FOOTER) != size)
		return 0;
	return (size - segment_index_size(0)) / SEGMENT_ENTRY;
}

struct segment_entry segment_entry(const uint8_t *index, size_t i)
{
	const uint8_t *at = index + SKIP_HEAD + i * SEGMENT_ENTRY;
	return (struct segment_entry){.kind = (uint32_t)segment_get_number(at, 4),
		.position = segment_get_number(at + 8, 8),
		.offset = segment_get_number(at + 16, 8),
		.time_us = segment_get_number(at + 24, 8)};
}

/* Parts */

int segment_find_part(
	const uint8_t *bytes, size_t length, enum segment_part *ret_part, size_t *ret_size)
{
	if (length < SKIP_HEAD)
		return 0;
	uint64_t magic = segment_get_number(bytes, 4), size;
	if (magic == MAGIC_FRAME) {
		size = ZSTD_findFrameCompressedSize(bytes, length);
		/* zstd does not distinguish incomplete frames from invalid ones; a full window means invalid. */
		if (ZSTD_isError(size))
			return length >= SEGMENT_PART_MAX ? -EBADMSG : 0;
		*ret_part = SEGMENT_PART_FRAME;
		*ret_size = (size_t)size;
		return 1;
	}
	if ((magic & ~UINT64_C(0xf)) != MAGIC_SKIP)
		return -EBADMSG;
	size = SKIP_HEAD + segment_get_number(bytes + 4, 4);
	if (size > SEGMENT_PART_MAX)
		return -EBADMSG;
	if (size > length)
		return 0;
	*ret_part = magic == MAGIC_HEAD ? SEGMENT_PART_HEAD
		: magic == MAGIC_INDEX  ? SEGMENT_PART_INDEX
					: SEGMENT_PART_OTHER;
	*ret_size = (size_t)size;
	return 1;
}

struct segment_codec {
	ZSTD_CCtx *packer;
	ZSTD_DCtx *unpacker;
};

struct segment_codec *segment_codec_create(void)
{
	return calloc(1, sizeof(struct segment_codec));
}

void segment_codec_destroy(struct segment_codec *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->packer);
	ZSTD_freeDCtx(c->unpacker);
	free(c);
}

size_t segment_frame_bound(size_t length)
{
	return ZSTD_compressBound(length);
}

size_t segment_pack(struct segment_codec *c, bool best, const uint8_t *records, size_t length,
	uint8_t *to, size_t room)
{
	if (!c->packer)
		c->packer = ZSTD_createCCtx();
	if (!c->packer ||
		ZSTD_isError(ZSTD_CCtx_setParameter(
			c->packer, ZSTD_c_compressionLevel, best ? LEVEL_BEST : LEVEL_NOW)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(c->packer, ZSTD_c_checksumFlag, 1)))
		return 0;
	size_t size = ZSTD_compress2(c->packer, to, room, records, length);
	return ZSTD_isError(size) ? 0 : size;
}

long segment_unpack(struct segment_codec *c, const uint8_t *frame, size_t size, uint8_t *to)
{
	/* Check the announced size first; unknown and invalid sizes are huge numbers. */
	if (ZSTD_getFrameContentSize(frame, size) > SEGMENT_FRAME_MAX)
		return -EBADMSG;
	if (!c->unpacker)
		c->unpacker = ZSTD_createDCtx();
	if (!c->unpacker)
		return -ENOMEM;
	size_t length = ZSTD_decompressDCtx(c->unpacker, to, SEGMENT_FRAME_MAX, frame, size);
	return ZSTD_isError(length) ? -EBADMSG : (long)length;
}
