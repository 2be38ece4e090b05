/* How the API writes blocks in JSON. */
#pragma once

#include "shell/block/blocks.h"

#include <jansson.h>

struct journal_entry;
struct session;

/* A block of that session. Returns a new reference. */
json_t *block_json(const struct session *s, const struct block *b);

/* block_json() with the screen lines of the block. The screen must be up to date, see with_screen(). */
json_t *block_json_with_lines(const struct session *s, const struct block *b);

/*
 * The event of a journal entry that a block has started or ended. Returns a new reference; NULL: the block is
 * discarded.
 */
json_t *block_event_json(struct session *s, const struct journal_entry *e);
