/* Reading a segment from its file, record by record, in bounded memory. Plain reads that block: not for the loop. */
#pragma once

#include "shell/recording/segment.h"

#include <stdbool.h>
#include <stdint.h>

struct segment_reader;

/*
 * Open a segment; its head has been read then. Returns 0; -EBADMSG when its head makes no sense or is torn, -ENOMEM, or
 * another negative errno.
 */
int segment_reader_open(int dir_fd, const char *name, struct segment_reader **ret_reader);

/* NULL is fine. */
void segment_reader_close(struct segment_reader *r);

/* Lives as long as the reader. */
const struct segment_head *segment_reader_head(const struct segment_reader *r);

/*
 * The next record, whose payload lives until the next call. Returns 1; 0 at the end, which may lie before that of the file
 * when its last part is torn; -EBADMSG when something in it makes no sense, or another negative errno.
 */
int segment_reader_next(struct segment_reader *r, struct segment_record *ret_record);

/* Bytes of the file up to the end of the last part that is whole, of those that were read. */
uint64_t segment_reader_whole(const struct segment_reader *r);

/* Go on at a frame, at this place of the file (see segment_entry). */
void segment_reader_seek(struct segment_reader *r, uint64_t position);

/*
 * The index of a sealed segment: *ret_index is owned, NULL when there is none, with *ret_count entries for segment_entry().
 * Returns 0 or a negative errno.
 */
int segment_reader_index(struct segment_reader *r, uint8_t **ret_index, size_t *ret_count);
