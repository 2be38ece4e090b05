/* How the API writes blocks in JSON. */
#pragma once

#include "shell/block/blocks.h"

#include <jansson.h>

struct journal_entry;
struct session;

/* A block of that session. Returns a new reference. */
json_t *block_json(const struct session *s, const struct block *b);

/* The same with the lines that it is in: pane_screen_here() has been seen to, as by look_first(). */
json_t *block_placed_json(const struct session *s, const struct block *b);

/* What an entry of the journal tells, that a block has begun or ended. Returns a new reference; NULL: it is forgotten. */
json_t *block_event_json(struct session *s, const struct journal_entry *e);
