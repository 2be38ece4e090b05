/*
 * Integers are LEB128, offsets are stored as differences. Level 3 is the last level before the cost
 * rises steeply: of 100 bytes at level 1, level 3 leaves 93, and level 6 leaves 87 at three times
 * the time.
 */
#include "ring/screen/grid/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 3
#define HEAD_MAX 40u /* largest encoded header of a line, in bytes */
#define RUN_MAX 10u  /* largest encoded run */
#define LINE_BYTES_MAX (PACKED_CELLS_MAX * 6u)
#define LINES_MAX (BLOCK_BYTES / sizeof(struct packed))

enum {
	WRAPPED = 1,
	ODD = 2,
	/* each cell is one byte, and the last cell has content */
	PLAIN = 4
};

struct block_writer {
	ZSTD_CCtx *zstd;
	uint64_t offset; /* of the last line */
	uint32_t entries, stored;
	size_t head, runs, text; /* bytes used in each buffer */
	uint8_t heads[LINES_MAX * HEAD_MAX];
	uint8_t run[BLOCK_BYTES / sizeof(struct packed_run) * RUN_MAX];
	uint8_t texts[BLOCK_BYTES];
	uint8_t all[sizeof(uint32_t) * 2 + LINES_MAX * HEAD_MAX + BLOCK_BYTES * 3];
};

/* Writing */

struct block_writer *block_writer_create(void)
{
	struct block_writer *w = malloc(sizeof *w);
	ZSTD_CCtx *zstd = w ? ZSTD_createCCtx() : NULL;
	if (!zstd || ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1))) {
		ZSTD_freeCCtx(zstd);
		free(w);
		return NULL;
	}
	w->zstd = zstd;
	w->offset = w->entries = w->stored = 0;
	w->head = w->runs = w->text = 0;
	return w;
}

void block_writer_destroy(struct block_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	free(w);
}

static size_t put(uint8_t *to, uint64_t number)
{
	size_t length = 0;
	for (; number >= 0x80; number >>= 7)
		to[length++] = (uint8_t)(number | 0x80);
	to[length++] = (uint8_t)number;
	return length;
}

/* Zigzag encoding: numbers near 0, of either sign, become small. */
static uint64_t zigzag(int64_t number)
{
	return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

static int64_t unzigzag(uint64_t number)
{
	return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

static bool is_plain(const struct packed *p)
{
	return p->bytes == p->extent && p->trimmed == p->extent;
}

bool block_writer_add(struct block_writer *w, const struct packed *p, uint32_t times)
{
	size_t size = packed_align(packed_size(p));
	if (w->stored + size > BLOCK_BYTES)
		return false;
	bool plain = is_plain(p);
	uint8_t *to = w->heads + w->head;
	*to++ = (uint8_t)((p->wrapped ? WRAPPED : 0) | (p->odd ? ODD : 0) | (plain ? PLAIN : 0));
	to += put(to, times - 1);
	to += put(to, zigzag((int64_t)(p->offset - w->offset)));
	to += put(to, p->runs);
	to += put(to, p->extent);
	if (!plain) {
		to += put(to, p->trimmed);
		to += put(to, p->bytes);
	}
	w->head = (size_t)(to - w->heads);
	to = w->run + w->runs;
	for (unsigned i = 0; i < p->runs; i++) {
		to += put(to, p->run[i].style);
		to += put(to, p->run[i].cells);
	}
	w->runs = (size_t)(to - w->run);
	memcpy(w->texts + w->text, packed_text(p), p->bytes);
	w->text += p->bytes;
	w->offset = p->offset;
	w->stored += (uint32_t)size;
	w->entries++;
	return true;
}

struct block *block_writer_finish(struct block_writer *w)
{
	uint8_t *to = w->all;
	to += put(to, w->head);
	to += put(to, w->runs);
	memcpy(to, w->heads, w->head);
	memcpy(to + w->head, w->run, w->runs);
	memcpy(to + w->head + w->runs, w->texts, w->text);
	size_t coded = (size_t)(to - w->all) + w->head + w->runs + w->text,
	       space = ZSTD_compressBound(coded);
	struct block *b = malloc(sizeof *b + space), *fitting;
	size_t size = b ? ZSTD_compress2(w->zstd, b->bytes, space, w->all, coded) : 0;
	if (b && !ZSTD_isError(size)) {
		*b = (struct block){.entries = w->entries,
			.stored = w->stored,
			.coded = (uint32_t)coded,
			.size = (uint32_t)size};
		fitting = realloc(b, sizeof *b + size);
		b = fitting ? fitting : b;
	} else {
		free(b);
		b = NULL;
	}
	w->offset = w->entries = w->stored = 0;
	w->head = w->runs = w->text = 0;
	return b;
}

/* Reading */

struct block_reader {
	ZSTD_DCtx *zstd;
};

struct block_reader *block_reader_create(void)
{
	struct block_reader *r = malloc(sizeof *r);
	if (!r)
		return NULL;
	r->zstd = ZSTD_createDCtx();
	if (r->zstd)
		return r;
	free(r);
	return NULL;
}

void block_reader_destroy(struct block_reader *r)
{
	if (!r)
		return;
	ZSTD_freeDCtx(r->zstd);
	free(r);
}

struct cursor {
	const uint8_t *at, *end;
	bool failed; /* truncated or not a number */
};

static uint64_t get(struct cursor *c, uint64_t max)
{
	uint64_t number = 0;
	for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
		uint8_t byte = *c->at++;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (number <= max)
			return number;
		break;
	}
	c->failed = true;
	return 0;
}

/* Split off the first length bytes. */
static struct cursor split_off(struct cursor *c, uint64_t length)
{
	struct cursor part = {.at = c->at, .end = c->at};
	if (length > (uint64_t)(c->end - c->at)) {
		c->failed = true;
		return part;
	}
	c->at = part.end = part.at + length;
	return part;
}

/* The three parts of a decompressed block. */
struct parts {
	struct cursor heads, runs, texts;
	uint64_t offset;
};

/* Read a line into at most space bytes. Returns its size, or 0 if the block is damaged. */
static size_t read_line(struct parts *from, struct packed *to, size_t space, uint64_t *ret_times)
{
	struct cursor *head = &from->heads;
	unsigned flags = (unsigned)get(head, WRAPPED | ODD | PLAIN);
	*ret_times = get(head, UINT32_MAX) + 1;
	from->offset += (uint64_t)unzigzag(get(head, UINT64_MAX));
	size_t runs = (size_t)get(head, PACKED_CELLS_MAX), extent = (size_t)get(head, UINT16_MAX),
	       trimmed = flags & PLAIN ? extent : (size_t)get(head, UINT16_MAX),
	       bytes = flags & PLAIN ? extent : (size_t)get(head, LINE_BYTES_MAX);
	size_t size = packed_align(sizeof *to + runs * sizeof *to->run + bytes);
	if (head->failed || size > space || bytes > (size_t)(from->texts.end - from->texts.at))
		return 0;
	*to = (struct packed){.offset = from->offset,
		.bytes = (uint32_t)bytes,
		.runs = (uint16_t)runs,
		.extent = (uint16_t)extent,
		.trimmed = (uint16_t)trimmed,
		.wrapped = (flags & WRAPPED) != 0,
		.odd = (flags & ODD) != 0};
	for (size_t i = 0; i < runs; i++) {
		to->run[i].style = (uint32_t)get(&from->runs, UINT32_MAX);
		to->run[i].cells = (uint32_t)get(&from->runs, UINT32_MAX);
	}
	memcpy(to->run + runs, from->texts.at, bytes);
	from->texts.at += bytes;
	return from->runs.failed ? 0 : size;
}

static bool read_lines(struct parts *from, struct block_lines *to, uint32_t entries, size_t stored)
{
	size_t at = 0;
	uint64_t lines = 0, times;
	for (; to->count < entries; to->count++) {
		size_t space = stored - at;
		struct packed *p = (struct packed *)(void *)(to->bytes + at);
		size_t size = space < sizeof *p ? 0 : read_line(from, p, space, &times);
		if (size == 0 || lines + times > UINT32_MAX)
			return false;
		lines += times;
		to->line[to->count] = (struct block_line){(uint32_t)at, (uint32_t)lines};
		at += size;
	}
	return at == stored && from->heads.at == from->heads.end &&
		from->runs.at == from->runs.end && from->texts.at == from->texts.end;
}

int block_decode(const uint8_t *bytes, size_t length, uint32_t entries, uint32_t stored,
	struct block_lines **ret_lines)
{
	struct cursor all = {.at = bytes, .end = bytes + length};
	uint64_t heads = get(&all, UINT32_MAX), runs = get(&all, UINT32_MAX);
	struct parts from = {
		.heads = split_off(&all, heads), .runs = split_off(&all, runs), .texts = all};
	if (all.failed || entries == 0 || entries > LINES_MAX || stored > BLOCK_BYTES ||
		stored % _Alignof(struct packed) != 0)
		return -EBADMSG;
	size_t memory = sizeof(struct block_lines) + stored + entries * sizeof(struct block_line);
	struct block_lines *lines = malloc(memory);
	if (!lines)
		return -ENOMEM;
	*lines = (struct block_lines){.memory = memory};
	lines->line = (struct block_line *)(void *)(lines->bytes + stored);
	if (!read_lines(&from, lines, entries, stored)) {
		free(lines);
		return -EBADMSG;
	}
	*ret_lines = lines;
	return 0;
}

int block_read(struct block_reader *r, const struct block *b, struct block_lines **ret_lines)
{
	uint8_t *bytes = malloc(b->coded);
	if (!bytes)
		return -ENOMEM;
	size_t length = ZSTD_decompressDCtx(r->zstd, bytes, b->coded, b->bytes, b->size);
	int rc = !ZSTD_isError(length) && length == b->coded
		? block_decode(bytes, length, b->entries, b->stored, ret_lines)
		: -EBADMSG;
	free(bytes);
	return rc;
}
