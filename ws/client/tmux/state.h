/*
 * The state of a tmux server between calls: a JSON file beside the path that names the server. The file at that
 * path is the lock. Both are removed with the last session, when tmux's server would exit.
 */
#pragma once

#include "ws/client/tmux/tmux.h"

#define STATE_SUFFIX ".state"
#define STATE_BYTES_MAX ((size_t)96 << 20)

/* Acquire the lock and read the state. Returns 0, or a status to exit with. */
int state_open(struct tmux *t);
/* Write the state and keep the lock. Returns 0, or a status to exit with. */
int state_write(struct tmux *t);
/*
 * Write the state, or remove the files if no session is left; release the lock. Returns 0, or a status to exit
 * with.
 */
int state_close(struct tmux *t);
