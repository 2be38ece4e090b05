/* Reads a segment from its file, record by record, in bounded memory. Blocking I/O: not for the loop. */
#pragma once

#include "shell/recording/segment.h"

#include <stdbool.h>
#include <stdint.h>

struct segment_reader;

/*
 * Open a segment and read its head. Returns 0; -EBADMSG if the head is invalid or incomplete, -ENOMEM, or
 * another negative errno.
 */
int segment_reader_open(int dir_fd, const char *name, struct segment_reader **ret_reader);

/* Close it. NULL is fine. */
void segment_reader_close(struct segment_reader *r);

/* The segment's head; valid as long as the reader. */
const struct segment_head *segment_reader_head(const struct segment_reader *r);

/*
 * Read the next record; its payload is valid until the next call. Returns 1; 0 at the end, which is before an
 * incomplete last part; -EBADMSG if a part is invalid, or another negative errno.
 */
int segment_reader_next(struct segment_reader *r, struct segment_record *ret_record);

/* Offset in the file after the last complete part that was read. */
uint64_t segment_reader_whole(const struct segment_reader *r);

/*
 * Read the index of a sealed segment. *ret_index: owned by the caller, NULL if there is none; *ret_count:
 * entries for segment_entry(). Returns 0 or a negative errno.
 */
int segment_reader_index(struct segment_reader *r, uint8_t **ret_index, size_t *ret_count);
