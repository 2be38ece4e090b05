/* What a target (-t) means, as tmux resolves it. */
#pragma once

#include "ws/client/tmux/tmux.h"

enum target_type { TARGET_SESSION, TARGET_WINDOW, TARGET_PANE };

enum {
	TARGET_QUIET = 1, /* nothing is said where there is none */
	TARGET_INDEX = 2, /* the window need not be there: an index is enough */
};

/* spec may be NULL: where we are. Returns 0, or 1, having complained; then the place is the session, if that was there. */
int target_find(struct tmux *t, const char *spec, enum target_type type, unsigned flags,
	struct place *ret_place);
/* Where we are: the pane that we run in, or the session used last. Returns false where there is none. */
bool target_here(struct tmux *t, struct place *ret_place);
/* All of a place from its pane, its window or its session. */
void target_complete(struct tmux *t, struct place *p);
/* The index of a pane in its window, as it is shown. */
unsigned target_pane_index(struct tmux *t, const struct pane *p);
