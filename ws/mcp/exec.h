/* The tools that run commands, and what exec.c shares with codex.c. */
#pragma once

#include "ws/mcp/call.h"

/* The client with this scope is gone: release the output held for it. */
void mcp_exec_release_output(const struct mcp *m, const char *scope);

/* The argument max_output_tokens, in bytes. */
size_t mcp_output_max(const struct mcp_call *c);

/* Whether a command, as JSON of the API, has ended. */
bool mcp_exec_is_done(const json_t *exec);

/*
 * If a command has ended without an exit status, mark the result as failed and add what to do next.
 */
void mcp_exec_check_failure(struct mcp_call *c, json_t *result, const json_t *exec);

/*
 * The stream name ("output", "stdout" or "stderr") of a command that the API returned with
 * format=raw, as text to be freed; NULL: it has no such stream. *omitted: increased by the number
 * of missing bytes.
 */
char *mcp_exec_stream(const json_t *exec, const char *name, uint64_t *omitted);

/* A member that is a number of bytes; 0: absent. */
uint64_t mcp_offset(const json_t *object, const char *name);

/* A header of a reply that is a number; 0: absent. */
uint64_t mcp_answer_number(const struct mcp_answer *a, const char *name);

/* Request output from c->cursor to `to`. to: 0: all there is, up to 1 MiB. */
void mcp_request_output(struct mcp_call *c, mcp_step next, uint64_t to);
