/* What a session is at, in short, as lists of sessions have it. */
#pragma once

#include "shell/activity/activities.h"
#include "shell/block/blocks.h"

#include <jansson.h>

#define ACTIVITY_COMMAND_MAX 256u /* bytes of the command of a block */

/* A command in short. b: NULL is null. Returns a new reference, NULL when memory is short. */
json_t *activity_block_json(const struct block *b);

/* a: NULL is null. Returns a new reference, NULL when memory is short. */
json_t *activity_json(const struct activity *a);
