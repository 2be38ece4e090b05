/* States of sessions as JSON. */
#pragma once

#include "shell/wait/state.h"

#include <jansson.h>

#define STATE_JSON_ARGUMENTS_MAX 64u /* of the program in the foreground; the rest is left out */

/* A state. Returns a new reference, NULL when memory is short. */
json_t *state_json(const struct pane_state *t);
