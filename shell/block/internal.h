/* What blocks.c, tell.c and log.c share. */
#pragma once

#include "shell/block/blocks.h"

void block_free(struct block *block);

/* The last, and the one before another; NULL: there is none. */
struct block *block_last(const struct blocks *b);
struct block *block_before(const struct blocks *b, const struct block *block);

/*
 * Tell all that can be told in its order: the next one waits for the end of this one. offset: of what has made it known.
 */
void blocks_tell(struct blocks *b, uint64_t offset);

/* Everything that will be known of it is. */
void blocks_settle(struct blocks *b, struct block *block, uint64_t offset);

/*
 * The shell tells of a line that somebody has entered: in the order of the lines, and before their records, but perhaps
 * behind their marks. The record of its prompt ends what has been told.
 */
void blocks_line(struct blocks *b, const struct record *record);

/* Who ran it; "" is nobody that is known, and no label. */
void block_set_author(struct block *block, const char *author, const char *label);

/* Put behind the others; the oldest may have to go. */
void blocks_append(struct blocks *b, struct block *block);

/* Write one down that is done; failing that is counted. */
void blocks_log_append(struct blocks *b, struct block *block);

/* What has been written down. */
void blocks_log_load(struct blocks *b);
