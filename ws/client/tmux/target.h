/* Resolving of targets (-t), as in tmux. */
#pragma once

#include "ws/client/tmux/tmux.h"

/* What a target names. */
enum target_type { TARGET_SESSION, TARGET_WINDOW, TARGET_PANE };

/* Flags of target_find(). */
enum {
	TARGET_QUIET = 1, /* no error message */
	TARGET_INDEX = 2, /* accept the index of a window that does not exist */
};

/*
 * Resolve a target. spec NULL: the current place. Returns 0, or 1 with an error; *ret_place then has the
 * session, if that was found.
 */
int target_find(struct tmux *t, const char *spec, enum target_type type, unsigned flags,
	struct place *ret_place);
/* The current place: our own pane, or else the session used last. Returns false if there is none. */
bool target_current(struct tmux *t, struct place *ret_place);
/* The index of a pane in its window, from pane-base-index. */
unsigned target_pane_index(struct tmux *t, const struct pane *p);
