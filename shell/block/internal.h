/* What blocks.c and log.c share. */
#pragma once

#include "shell/block/blocks.h"

void block_free(struct block *block);

/* Who ran it; "" is nobody that is known. */
void block_set_author(struct block *block, const char *name);

/* Put behind the others; the oldest may have to go. */
void blocks_append(struct blocks *b, struct block *block);

/* Write one down that is done; failing that is counted. */
void blocks_log_append(struct blocks *b, struct block *block);

/* What has been written down. */
void blocks_log_load(struct blocks *b);
