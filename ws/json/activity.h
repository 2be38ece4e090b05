/* Activities of sessions as JSON, for the list of sessions. */
#pragma once

#include "shell/activity/activities.h"
#include "shell/block/blocks.h"

#include <jansson.h>

#define ACTIVITY_COMMAND_MAX 256u /* bytes of the command of a block */

/* A summary of a block; null for NULL. Returns a new reference, NULL when memory is short. */
json_t *activity_block_json(const struct block *b);

/* An activity; null for NULL. Returns a new reference, NULL when memory is short. */
json_t *activity_json(const struct activity *a);
