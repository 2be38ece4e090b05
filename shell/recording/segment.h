/*
 * Segments: a piece of what a session has printed, in a file, with times. What one is made of stands in README.md of this
 * room: a head, frames of zstd with records, and, once it is sealed, an index. Bytes in, structs out: no I/O here.
 *
 * A file may have been written by anybody, and torn by a crash: each length is checked before it is used.
 */
#pragma once

#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_RECORD_HEAD 24u                /* bytes before the payload of a record */
#define SEGMENT_PAYLOAD_MAX ((size_t)64 << 10) /* bytes of a payload */
#define SEGMENT_FRAME_MAX \
	((size_t)512 << 10) /* bytes of records in a frame, before they are compressed */
#define SEGMENT_PART_MAX \
	((size_t)1 << 20) /* bytes of a part of a file: a head, a frame or an index */
#define SEGMENT_HEAD_MAX (128u + NAME_ID_MAX) /* bytes of a head */
#define SEGMENT_INDEX_MAX 16384u              /* entries of an index */
#define SEGMENT_ENTRY 32u                     /* bytes of an entry of an index */
#define SEGMENT_FOOTER 16u     /* bytes at the end of an index, by which it is found */
#define SEGMENT_SIDE_MAX 1000u /* rows and columns */

/* What a segment begins with. */
struct segment_head {
	uint64_t epoch;   /* of the session */
	uint64_t number;  /* of the segment in its recording, from 1 */
	uint64_t offset;  /* of the first byte */
	uint64_t time_us; /* wall clock */
	uint64_t begun; /* blocks that begin before this offset have been told of in earlier segments, */
	uint64_t ended;           /* and the ends of those */
	unsigned rows, cols;      /* of the terminal there */
	char id[NAME_ID_MAX + 1]; /* of the session */
};

/* Frozen: numbers are never reused, unknown ones are skipped. */
enum segment_type {
	SEGMENT_OUTPUT = 1, /* payload: what was printed at the offset */
	SEGMENT_SIZE = 2,   /* payload: u16 rows, u16 columns; from the offset on */
	SEGMENT_BLOCK_BEGIN =
		3, /* payload: the command's text, or nothing; the offset is that of its output */
	SEGMENT_BLOCK_END = 4, /* payload: u64 offset of its beginning, i32 status or -1 */
	SEGMENT_GAP = 5,       /* payload: u64 bytes before the offset that were lost */
	SEGMENT_EXIT = 6, /* payload: i32 wait(2) status, u32 1 if it is known; nothing follows */
};

struct segment_record {
	enum segment_type type;
	uint64_t offset;        /* in the session's output */
	uint64_t time_us;       /* wall clock; never less than that of the record before */
	const uint8_t *payload; /* borrowed */
	size_t length;
};

/* A place in a segment worth finding; those of a sealed one are in its index, in order. */
struct segment_entry {
	uint32_t kind;     /* SEGMENT_FRAME, or an enum segment_type */
	uint64_t position; /* of the frame in the file */
	uint64_t offset, time_us;
};

#define SEGMENT_FRAME 0u

/* Numbers as files have them: little endian. */
uint64_t segment_get(const uint8_t *bytes, unsigned width);
uint8_t *segment_put(uint8_t *to, uint64_t number, unsigned width);

/* Write a head, as a part of a file. Returns its size, at most SEGMENT_HEAD_MAX. */
size_t segment_put_head(const struct segment_head *head, uint8_t *to);

/* Write a record into room bytes. Returns its size, or 0 when there is no room for it, or it is too long. */
size_t segment_put_record(const struct segment_record *record, uint8_t *to, size_t room);

/*
 * Read the record at *at of length bytes, and advance *at. Returns 1, 0 at the end, -EBADMSG when it makes no sense.
 * Records of unknown types are told like others.
 */
int segment_get_record(
	const uint8_t *bytes, size_t length, size_t *at, struct segment_record *ret_record);

/* The numbers in payloads. Return false when it has another length, or one of them makes no sense. */
bool segment_size(const struct segment_record *r, unsigned *ret_rows, unsigned *ret_cols);
bool segment_block_end(const struct segment_record *r, uint64_t *ret_start, int *ret_status);
bool segment_gap(const struct segment_record *r, uint64_t *ret_lost);
bool segment_exit(const struct segment_record *r, int *ret_status, bool *ret_known);

/* Write an index as a part of a file. count: at most SEGMENT_INDEX_MAX; to: segment_index_size(count). */
size_t segment_index_size(size_t count);
void segment_put_index(const struct segment_entry *entries, size_t count, uint8_t *to);

/* The bytes of an index by its footer, the last SEGMENT_FOOTER of a file; 0: there is none. */
size_t segment_footer(const uint8_t footer[SEGMENT_FOOTER]);

/* Entry i of an index, a whole part, which has as many as segment_entries() says. */
struct segment_entry segment_entry(const uint8_t *index, size_t i);

enum segment_part { SEGMENT_PART_HEAD, SEGMENT_PART_FRAME, SEGMENT_PART_INDEX, SEGMENT_PART_OTHER };

/*
 * What is at the beginning of length bytes of a file, all there are up to SEGMENT_PART_MAX. Returns 1 and fills in what it is
 * and how long; 0 when it is not whole; -EBADMSG when it makes no sense, or is longer than a part may be.
 */
int segment_look(const uint8_t *bytes, size_t length, enum segment_part *ret_part, size_t *ret_size);

/* Of a whole part: its head; -EBADMSG when that makes no sense. How many entries there are in an index; 0: it makes no sense. */
int segment_get_head(const uint8_t *part, size_t size, struct segment_head *ret_head);
size_t segment_entries(const uint8_t *part, size_t size);

/* What frames are packed and unpacked with. */
struct segment_codec;

/* Returns owned, or NULL when memory is short. NULL is fine to destroy. */
struct segment_codec *segment_codec_create(void);
void segment_codec_destroy(struct segment_codec *c);

/* What a frame of length bytes may take. */
size_t segment_bound(size_t length);

/* Pack records, length of them at most SEGMENT_FRAME_MAX, into a frame with a checksum. Returns its size, or 0 when memory is short. */
size_t segment_pack(struct segment_codec *c, bool best, const uint8_t *records, size_t length,
	uint8_t *to, size_t room);

/* Unpack a frame into SEGMENT_FRAME_MAX bytes. Returns how many there are, -EBADMSG when the frame is damaged, or -ENOMEM. */
long segment_unpack(struct segment_codec *c, const uint8_t *frame, size_t size, uint8_t *to);
