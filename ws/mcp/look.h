/* What a caller is shown of a terminal: what is new to them, or the whole screen. */
#pragma once

#include "ws/mcp/call.h"

struct mcp_look {
	uint64_t known; /* offset up to which they know what was printed; 0: nothing */
	bool whole;     /* the whole screen, whatever they know */
	bool typed;     /* they have typed: of a full-screen program the changed rows are enough */
};

/* The answer has the terminal's state: it joins what is kept. */
void mcp_keep_state(struct mcp_call *c, const struct mcp_answer *a);

/*
 * The result: what is kept, and what was printed since it was known; of a full-screen program, of what was drawn otherwise than
 * line by line, and of what is longer than a screen, the screen.
 */
void mcp_look(struct mcp_call *c, const struct mcp_look *how);

/* They have been shown a whole screen, which was answered by the API. */
void mcp_shown(struct mcp_call *c, const json_t *screen);

/* The tool */
void mcp_snapshot(struct mcp_call *c, const struct mcp_answer *a);
