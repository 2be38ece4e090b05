/* What a caller is shown of a terminal: the new output, or the whole screen. */
#pragma once

#include "ws/mcp/call.h"

/* How to show a terminal. */
struct mcp_look {
	uint64_t known; /* offset up to which the caller has seen the output; 0: none of it */
	bool whole;     /* show the whole screen in any case */
	bool typed;     /* the caller has typed: of a full-screen program show only changed rows */
};

/* Add the terminal's state of a reply to c->kept. */
void mcp_keep_state(struct mcp_call *c, const struct mcp_answer *a);

/*
 * End the call with c->kept and the output since how->known. The screen is shown instead if a
 * full-screen program runs, the output moves the cursor, or it is longer than a screen.
 */
void mcp_look(struct mcp_call *c, const struct mcp_look *how);

/* Record that the caller has been shown this screen, JSON of the API. */
void mcp_look_shown(struct mcp_call *c, const json_t *screen);
