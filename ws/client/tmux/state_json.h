/* The state of a tmux server as JSON. Input may be damaged or of another version: it is checked. Pure. */
#pragma once

#include "ws/client/tmux/tmux.h"

/* Fill an empty model. Returns NULL, or an error text; the model is then incomplete and must not be used. */
const char *state_json_read(struct model *m, const json_t *o);
/* Returns the state, owned, or NULL if one of its texts is not UTF-8. */
json_t *state_json_write(const struct model *m);
