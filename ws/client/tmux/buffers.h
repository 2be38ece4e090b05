/* The paste buffers of tmux, newest first. */
#pragma once

#include "ws/client/tmux/tmux.h"

/* Limit of one buffer. All buffers together, in base64, may have four times as much. */
#define BUFFERS_BYTES_MAX ((size_t)8 << 20)

/* Find a buffer. name NULL: the newest automatically named one. Returns it borrowed, or NULL. */
json_t *buffers_find(const struct tmux *t, const char *name);
/* Decode the content of a buffer. */
char *buffers_read(struct tmux *t, const json_t *buffer, size_t *ret_length);
/* Create or replace a buffer; name NULL: with an automatic name. Returns 0, or 1 with an error. */
int buffers_write(struct tmux *t, const char *name, const char *bytes, size_t length);
