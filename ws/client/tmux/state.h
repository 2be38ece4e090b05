/*
 * What tmux has, between calls: a file of JSON beside the path that names the server, and that path as the lock of
 * whoever changes it. It goes when the last session does, as tmux's server would.
 */
#pragma once

#include "ws/client/tmux/tmux.h"

#define STATE_SUFFIX ".state"
#define STATE_BYTES_MAX ((size_t)96 << 20)

/* Wait for the lock, and read what there is. Returns 0, or the status to end with. */
int state_open(struct tmux *t);
/* Write what there is, and keep the lock. Returns 0 or a status. */
int state_keep(struct tmux *t);
/* Write what there is, or remove the files where no session is left, and give the lock back. Returns 0 or a status. */
int state_close(struct tmux *t);
/* Where files of this server may lie: PATH and what follows. */
char *state_name(struct tmux *t, const char *suffix);
