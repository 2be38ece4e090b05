/* The buffers of tmux, newest first. */
#pragma once

#include "ws/client/tmux/tmux.h"

#define BUFFERS_BYTES_MAX ((size_t)8 << 20) /* of one, and of all that have no name */

/* The one of that name, or the newest that has none given by somebody; NULL: there is none. Borrowed. */
json_t *buffers_find(const struct tmux *t, const char *name);
/* Its bytes. */
char *buffers_read(struct tmux *t, const json_t *buffer, size_t *ret_length);
/* Set one; name NULL: a new one. Returns 0 or 1, having complained. */
int buffers_write(struct tmux *t, const char *name, const char *bytes, size_t length);
