/*
 * A tape: the segments of one session, of which the last one may be open. If the writer is killed, the open
 * segment is valid up to its last complete frame, and the next writer continues there. Blocking I/O: used by
 * one thread at a time, not the loop.
 */
#pragma once

#include "shell/recording/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAPE_NAME_SIZE (NAME_ID_MAX + 24u)         /* bytes of a directory's name, with its NUL */
#define TAPE_FILE_SIZE 32u                         /* bytes of a file's name, with its NUL */
#define TAPE_SEGMENT_BYTES ((uint64_t)8 << 20)     /* of records, after which a segment is sealed */
#define TAPE_SEGMENT_US (UINT64_C(3600) * 1000000) /* age after which a segment is sealed */
#define TAPE_SEGMENTS_MAX 99999999u                /* of a tape */

/* A tape. */
struct tape {
	int root_fd;                /* of the directory of recordings; borrowed */
	char id[NAME_ID_MAX + 1];   /* of the session */
	char name[TAPE_NAME_SIZE];  /* of its directory */
	uint64_t epoch;             /* of the session */
	uint64_t number, next;      /* number of the open segment, 0: none; of the next one */
	uint64_t size;              /* bytes of the open segment's file */
	uint64_t bytes, started_us; /* bytes of its records; time of the first */
	uint64_t end, time_us; /* offset up to which output is recorded; time of the last record */
	uint64_t begun, ended; /* see struct segment_head */
	unsigned rows, cols;   /* at the end; 0: nothing is recorded */
	bool exited;           /* the exit is recorded: nothing follows */
};

/* Write the name of a tape's directory: the id, a plus sign, the epoch in 16 hexadecimal digits. */
void tape_name(const char *id, uint64_t epoch, char ret_name[TAPE_NAME_SIZE]);

/* Parse such a name. Returns false if it is not one. */
bool tape_parse_name(const char *name, char ret_id[NAME_ID_MAX + 1], uint64_t *ret_epoch);

/* Kinds of files in a tape's directory; TAPE_NEW: being sealed. */
enum tape_file { TAPE_NONE, TAPE_OPEN, TAPE_SEALED, TAPE_NEW };

/* Parse the name of a file. Returns TAPE_NONE if it is not a segment's. */
enum tape_file tape_parse_file(const char *name, uint64_t *ret_number);

/*
 * Find the end of the tape of t->id and t->epoch in t->root_fd, truncate an incomplete frame, and fill in the
 * rest of t. Returns 0 or a negative errno: then do not write.
 */
int tape_open(struct tape *t);

/*
 * Write records, at most SEGMENT_FRAME_MAX bytes, as a frame. Returns 0 or a negative errno: then none of them
 * is written.
 */
int tape_write(struct tape *t, struct segment_codec *codec, const uint8_t *records, size_t length);

/* Whether the open segment is to be sealed, for its size or age. */
bool tape_is_full(const struct tape *t, uint64_t now_us);

/* Seal the open segment, if there is one. Returns 0 or a negative errno: then it is still open. */
int tape_seal(struct tape *t, struct segment_codec *codec);
