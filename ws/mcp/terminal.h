/* The tools for sessions and terminals. */
#pragma once

#include "ws/mcp/call.h"

/*
 * The sessions after the id `cursor` (NULL: all) of a list of the API, sorted by id, at most limit. *ret_next: the
 * cursor of the next page, borrowed from the list; NULL: there is none. Returns a new reference, NULL without memory.
 */
json_t *mcp_page(
	const json_t *sessions, const char *cursor, size_t limit, const char **ret_next);

/* First step of the tool session_create. */
void mcp_session_create(struct mcp_call *c, const struct mcp_answer *a);

/* First step of the tool session_list. */
void mcp_session_list(struct mcp_call *c, const struct mcp_answer *a);

/* First step of the tool session_close. */
void mcp_session_close(struct mcp_call *c, const struct mcp_answer *a);

/* First step of the tool resize. */
void mcp_resize(struct mcp_call *c, const struct mcp_answer *a);

/* First step of the tool send_keys. */
void mcp_send_keys(struct mcp_call *c, const struct mcp_answer *a);

/* First step of the tool lease. */
void mcp_lease(struct mcp_call *c, const struct mcp_answer *a);

/* First step of the tool wait. */
void mcp_wait(struct mcp_call *c, const struct mcp_answer *a);
