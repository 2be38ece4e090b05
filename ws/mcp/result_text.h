/*
 * The results of tools as text for models and people. Each function makes the text from the
 * structured result, owned by the caller; NULL if memory is short.
 */
#pragma once

#include <jansson.h>

/* A command's result, with a short description of the terminal. */
char *mcp_exec_text(json_t *exec);

/* A command's result in the format of Codex. */
char *mcp_chunk_text(json_t *chunk);

/* A session. */
char *mcp_session_text(json_t *session);

/* A list of sessions. */
char *mcp_sessions_text(json_t *sessions);

/* A screen, or new output. */
char *mcp_screen_text(json_t *screen);

/* The result of a wait. */
char *mcp_wait_text(json_t *wait);

/* The lease of the keyboard, if there is one. */
char *mcp_lease_text(json_t *lease);

/* Commands, matches, lines or output of the history. */
char *mcp_history_text(json_t *history);
