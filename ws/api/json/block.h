/* How the API writes blocks in JSON. */
#pragma once

#include "shell/block/blocks.h"

#include <jansson.h>

struct session;

/* A block of that session. Returns a new reference. */
json_t *block_json(const struct session *s, const struct block *b);
