/* What is a caller's own: a session, and how far they know the output of each. */
#pragma once

#include "ws/mcp/call.h"

/* A number for a caller, the same in every server. Pure. */
uint64_t mcp_own_number(const char *caller);

/* What that is of: who calls, by the scope of their ids, their link and their program. */
void mcp_own_reader(char reader[EXEC_READER_SIZE], const char *scope, const struct principal *p,
	const char *author);

/*
 * Find the session that the arguments name, or the link's, or the caller's own, which is made if needed, and made again
 * when its shell has ended, unless one only looks; then first() is called with a NULL answer.
 */
void mcp_in_session(struct mcp_call *c, mcp_step first);

/*
 * How far the caller knows the output of the session, by the answers so far; 0: there was none. And that they are told of
 * it up to offset now.
 */
uint64_t mcp_told(const struct mcp_call *c);
void mcp_tell_offset(struct mcp_call *c, uint64_t offset);

/*
 * How far they have been shown what was printed, which may be less; 0: nothing, as to all who have no ids, and may be several. And
 * that they are, up to offset now.
 */
uint64_t mcp_seen(const struct mcp_call *c);
void mcp_show_offset(struct mcp_call *c, uint64_t offset);

/* The version of its screen that they were shown last; 0: none. And that they are shown this one. */
uint64_t mcp_told_screen(const struct mcp_call *c);
void mcp_tell_screen(struct mcp_call *c, uint64_t version);

/* Whether its session is the one that the caller has without naming it. */
bool mcp_is_own(const struct mcp_call *c);

/* Whether they have been told that this is the session's directory, as they are now. */
bool mcp_told_directory(struct mcp_call *c, const char *cwd);
