/* States of sessions as JSON, and their summaries, activities, for lists. */
#pragma once

#include "shell/activity/activities.h"
#include "shell/block/blocks.h"
#include "shell/wait/state.h"

#include <jansson.h>

#define STATE_JSON_ARGUMENTS_MAX 64u /* of the program in the foreground; the rest is left out */
#define ACTIVITY_COMMAND_MAX 256u    /* bytes of the command of a block */

/* A state. Returns a new reference, NULL when memory is short. */
json_t *state_json(const struct pane_state *t);

/* A summary of a block; null for NULL. Returns a new reference, NULL when memory is short. */
json_t *activity_block_json(const struct block *b);

/* An activity; null for NULL. Returns a new reference, NULL when memory is short. */
json_t *activity_json(const struct activity *a);
