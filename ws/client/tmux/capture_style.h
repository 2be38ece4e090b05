/* The sequences between two cells as capture-pane -e writes them: what tmux's grid_string_cells() does (grid.c of 3.3a). */
#pragma once

#include "ws/client/tmux/arena.h"

#include <jansson.h>

/* How the last cell looked. It goes on over the ends of rows. */
struct capture_style {
	unsigned attributes;
	char fg[24], bg[24],
		underline[24]; /* parameters of SGR; underline: "" for none of its own */
};

void capture_style_begin(struct capture_style *s);
/* Add what leads from that to a run of cells, as the server's screens have them (`cells` of a line), NULL being blank ones; s becomes it. */
void capture_style_change(struct text *out, struct capture_style *s, const json_t *run);
