/*
 * A tape: the segments of one session as they are written, one open at a time. What is in the open one is whole up to the
 * last frame, whenever whoever writes it is killed; the next one finds that place and goes on there. Plain I/O that
 * blocks: a tape is worked at by one thread at a time, which is not the loop.
 */
#pragma once

#include "shell/recording/segment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAPE_NAME_SIZE (NAME_ID_MAX + 24u)
#define TAPE_SEGMENT_BYTES ((uint64_t)8 << 20)     /* of records, after which a segment is sealed */
#define TAPE_SEGMENT_US (UINT64_C(3600) * 1000000) /* or so much after its first */
#define TAPE_SEGMENTS_MAX 99999999u                /* of a tape */

struct tape {
	int root_fd;                /* borrowed: where all recordings are */
	char id[NAME_ID_MAX + 1];   /* of the session */
	char name[TAPE_NAME_SIZE];  /* of its directory */
	uint64_t epoch;             /* of the session */
	uint64_t number, next;      /* of the open segment, 0: there is none; of the one after */
	uint64_t size;              /* bytes of the open one's file */
	uint64_t bytes, started_us; /* of records in it; time of the first */
	uint64_t end, time_us;      /* what is recorded: up to this offset, and when */
	uint64_t begun, ended;      /* see struct segment_head */
	unsigned rows, cols;        /* at the end; 0: nothing is recorded */
	bool exited;                /* the session's end is recorded: nothing follows */
};

/* What a tape's directory is called: the id, a plus sign, the epoch in 16 hexadecimal digits. */
void tape_name(const char *id, uint64_t epoch, char ret_name[TAPE_NAME_SIZE]);

/* The other way round; false: it is none. */
bool tape_parse_name(const char *name, char ret_id[NAME_ID_MAX + 1], uint64_t *ret_epoch);

/* What kind of file a name in there is, and of which number. */
enum tape_file { TAPE_NONE, TAPE_OPEN, TAPE_SEALED, TAPE_NEW };
enum tape_file tape_parse_file(const char *name, uint64_t *ret_number);

#define TAPE_FILE_SIZE 32u
void tape_file_name(uint64_t number, enum tape_file kind, char ret_name[TAPE_FILE_SIZE]);

/*
 * Find the numbers of the segments that there are, ascending; *ret_numbers is owned, NULL when there are none. A segment
 * that is both open and sealed counts once. Returns how many, -EFBIG when there are too many, or a negative errno (-ENOENT: no such tape).
 */
long tape_list(int root_fd, const char *name, uint64_t **ret_numbers);

/* Open the file of a segment, sealed or not, in the directory of its tape: the name that it has there; false: none. */
bool tape_find(int dir_fd, uint64_t number, char ret_name[TAPE_FILE_SIZE]);

/*
 * Find out how far the tape of t->id and t->epoch goes, cut off what is torn, and go on from there. All else of t is
 * filled in. Returns 0 or a negative errno, then nothing may be written.
 */
int tape_open(struct tape *t);

/* Write records, at most SEGMENT_FRAME_MAX bytes of them. Returns 0, or a negative errno: then none of them is written. */
int tape_write(struct tape *t, struct segment_codec *codec, const uint8_t *records, size_t length);

/* Whether the open segment is to be sealed, for its size or its age. */
bool tape_is_full(const struct tape *t, uint64_t now_us);

/* Seal the open segment, if there is one. Returns 0, or a negative errno: then it is still open. */
int tape_seal(struct tape *t, struct segment_codec *codec);
