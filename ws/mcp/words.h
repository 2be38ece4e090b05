/*
 * The answers of tools in words, for models and people: made from the structured result, each owned by the caller; NULL when
 * memory is short.
 */
#pragma once

#include <jansson.h>

/* What a command did, with the terminal's state as a few words. */
char *mcp_exec_text(json_t *exec);
/* The same as Codex words it. */
char *mcp_chunk_text(json_t *chunk);
char *mcp_session_text(json_t *session);
char *mcp_sessions_text(json_t *sessions);
char *mcp_screen_text(json_t *screen);
char *mcp_wait_text(json_t *wait);
/* The keyboard that somebody has now, or nobody. */
char *mcp_lease_text(json_t *lease);
char *mcp_history_text(json_t *history);
