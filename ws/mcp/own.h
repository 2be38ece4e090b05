/* State of a caller: its own session, and what it has seen of each session. */
#pragma once

#include "ws/mcp/call.h"

/*
 * Write the text that identifies a caller: the scope of its ids, its link and its program's name.
 */
void mcp_own_identity(char reader[EXEC_READER_SIZE], const char *scope, const struct principal *p,
	const char *author);

/*
 * Set c->session to the session of the arguments, of the link, or else to the caller's own, and
 * call first() with a NULL answer. The caller's own session is created if needed; if its shell has
 * ended, it is created again, except for tools that only read.
 */
void mcp_in_session(struct mcp_call *c, mcp_step first);

/* The offset of the latest terminal state that an answer had; 0: none. */
uint64_t mcp_known_offset(const struct mcp_call *c);

/* Set mcp_known_offset(), unless it is larger. */
void mcp_set_known_offset(struct mcp_call *c, uint64_t offset);

/* The offset up to which the caller has seen the output; 0: none, or no scope. */
uint64_t mcp_shown_offset(const struct mcp_call *c);

/* Set mcp_shown_offset() and mcp_known_offset(), unless they are larger. */
void mcp_set_shown_offset(struct mcp_call *c, uint64_t offset);

/* The version of the screen that the caller was shown last; 0: none. */
uint64_t mcp_shown_screen(const struct mcp_call *c);

/* Set mcp_shown_screen(). */
void mcp_set_shown_screen(struct mcp_call *c, uint64_t version);

/* Whether c->session is the caller's own. */
bool mcp_is_own(const struct mcp_call *c);

/* Record that cwd is shown to the caller. Returns whether the last one was the same. */
bool mcp_update_shown_directory(struct mcp_call *c, const char *cwd);
