/*
 * The format of segments, which are files with a part of a session's recording: a head, zstd frames of records,
 * and, once sealed, an index. README.md describes it. Pure.
 *
 * Files are untrusted, and may be incomplete after a crash: each length is checked before it is used.
 */
#pragma once

#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_RECORD_HEAD 24u                /* bytes before the payload of a record */
#define SEGMENT_PAYLOAD_MAX ((size_t)64 << 10) /* bytes of a payload */
#define SEGMENT_FRAME_MAX ((size_t)512 << 10)  /* uncompressed bytes of records in a frame */
#define SEGMENT_PART_MAX ((size_t)1 << 20)     /* bytes of a part of a file */
#define SEGMENT_HEAD_MAX (128u + NAME_ID_MAX)  /* bytes of a head */
#define SEGMENT_INDEX_MAX 16384u               /* entries of an index */
#define SEGMENT_ENTRY 32u                      /* bytes of an entry of an index */
#define SEGMENT_FOOTER 16u     /* bytes at the end of an index, by which it is found */
#define SEGMENT_SIDE_MAX 1000u /* rows and columns */

/* The head of a segment. */
struct segment_head {
	uint64_t epoch;   /* of the session */
	uint64_t number;  /* of the segment in its recording, from 1 */
	uint64_t offset;  /* of the first byte */
	uint64_t time_us; /* wall clock */
	uint64_t begun;   /* earlier segments have the begins of blocks before this offset */
	uint64_t ended; /* earlier segments have the ends of blocks that begin before this offset */
	unsigned rows, cols;      /* of the terminal there */
	char id[NAME_ID_MAX + 1]; /* of the session */
};

/* Types of records. Frozen: numbers are never reused; readers skip unknown ones. */
enum segment_type {
	SEGMENT_OUTPUT = 1,      /* payload: output at the offset */
	SEGMENT_SIZE = 2,        /* payload: u16 rows, u16 columns; from the offset on */
	SEGMENT_BLOCK_BEGIN = 3, /* payload: the command, or empty; offset of its output */
	SEGMENT_BLOCK_END = 4,   /* payload: u64 offset of its beginning, i32 status or -1 */
	SEGMENT_GAP = 5,         /* payload: u64 bytes before the offset that were lost */
	SEGMENT_EXIT = 6,        /* payload: i32 wait(2) status, u32 1 if known; nothing follows */
};

/* A record. */
struct segment_record {
	enum segment_type type;
	uint64_t offset;        /* in the session's output */
	uint64_t time_us;       /* wall clock; never decreases */
	const uint8_t *payload; /* borrowed */
	size_t length;
};

/* An entry of the index of a sealed segment: the place of a frame or a record. */
struct segment_entry {
	uint32_t kind;     /* SEGMENT_FRAME, or an enum segment_type */
	uint64_t position; /* of the frame in the file */
	uint64_t offset, time_us;
};

/* The kind of entries for frames. */
#define SEGMENT_FRAME 0u

/* Read a little-endian number of width bytes. */
uint64_t segment_get_number(const uint8_t *bytes, unsigned width);

/* Write a little-endian number of width bytes. Returns the address after it. */
uint8_t *segment_put_number(uint8_t *to, uint64_t number, unsigned width);

/* Write a head, as a part of a file. Returns its size, at most SEGMENT_HEAD_MAX. */
size_t segment_put_head(const struct segment_head *head, uint8_t *to);

/* Write a record into room bytes. Returns its size, or 0 if it does not fit or exceeds SEGMENT_PAYLOAD_MAX. */
size_t segment_put_record(const struct segment_record *record, uint8_t *to, size_t room);

/*
 * Read the record at *at of length bytes, and advance *at. The type may be unknown. Returns 1, 0 at the end, or
 * -EBADMSG if it is invalid.
 */
int segment_get_record(
	const uint8_t *bytes, size_t length, size_t *at, struct segment_record *ret_record);

/* Parse the payload of SEGMENT_SIZE. Returns false if it is invalid. */
bool segment_parse_size(const struct segment_record *r, unsigned *ret_rows, unsigned *ret_cols);

/* Parse the payload of SEGMENT_BLOCK_END. Returns false if it is invalid. */
bool segment_parse_block_end(const struct segment_record *r, uint64_t *ret_start, int *ret_status);

/* Parse the payload of SEGMENT_EXIT. Returns false if it is invalid. */
bool segment_parse_exit(const struct segment_record *r, int *ret_status, bool *ret_known);

/* Bytes of an index of count entries. */
size_t segment_index_size(size_t count);

/* Write an index as a part of a file. count: at most SEGMENT_INDEX_MAX; to: segment_index_size(count) bytes. */
void segment_put_index(const struct segment_entry *entries, size_t count, uint8_t *to);

/* Bytes of the index, from its footer: the last SEGMENT_FOOTER bytes of a file. 0: there is none. */
size_t segment_parse_footer(const uint8_t footer[SEGMENT_FOOTER]);

/* Read entry i of an index part. i: less than segment_count_entries(). */
struct segment_entry segment_entry(const uint8_t *index, size_t i);

/* Parts of a file. */
enum segment_part { SEGMENT_PART_HEAD, SEGMENT_PART_FRAME, SEGMENT_PART_INDEX, SEGMENT_PART_OTHER };

/*
 * Find type and size of the part at the beginning of bytes. length: the rest of the file, or SEGMENT_PART_MAX
 * if that is more. Returns 1; 0 if the part is incomplete; -EBADMSG if it is invalid or exceeds
 * SEGMENT_PART_MAX.
 */
int segment_find_part(
	const uint8_t *bytes, size_t length, enum segment_part *ret_part, size_t *ret_size);

/* Parse a complete head part. Returns 0, or -EBADMSG if it is invalid. */
int segment_get_head(const uint8_t *part, size_t size, struct segment_head *ret_head);

/* The number of entries of a complete index part; 0: it is invalid, or empty. */
size_t segment_count_entries(const uint8_t *part, size_t size);

/* zstd contexts. */
struct segment_codec;

/* Create a codec. Returns NULL if out of memory. */
struct segment_codec *segment_codec_create(void);

/* Free a codec. NULL is fine. */
void segment_codec_destroy(struct segment_codec *c);

/* Maximal size of a frame of length bytes of records. */
size_t segment_frame_bound(size_t length);

/*
 * Compress records into a frame with a checksum. length: at most SEGMENT_FRAME_MAX bytes; best: better and
 * slower. Returns the frame's size, or 0 if out of memory.
 */
size_t segment_pack(struct segment_codec *c, bool best, const uint8_t *records, size_t length,
	uint8_t *to, size_t room);

/* Decompress a frame into SEGMENT_FRAME_MAX bytes. Returns the length, -EBADMSG if the frame is damaged, or -ENOMEM. */
long segment_unpack(struct segment_codec *c, const uint8_t *frame, size_t size, uint8_t *to);
