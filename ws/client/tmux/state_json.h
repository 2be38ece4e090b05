/* What tmux has, as JSON and back. What is read may be of any version, or damaged by anybody: it is checked. Pure. */
#pragma once

#include "ws/client/tmux/tmux.h"

/* Fill a model that is empty. Returns NULL, or what is wrong; then the model holds a part of it, and is of no use. */
const char *state_json_read(struct model *m, const json_t *o);
/* What there is; owned. NULL: it cannot be told, for one of its texts is no UTF-8. */
json_t *state_json_write(const struct model *m);
