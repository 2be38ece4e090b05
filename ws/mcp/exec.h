/* MCP's tools that run commands, and what they share with those that speak as Codex does. */
#pragma once

#include "ws/mcp/call.h"

/* How the tools begin. */
void mcp_exec(struct mcp_call *c, const struct mcp_answer *a);
void mcp_exec_read(struct mcp_call *c, const struct mcp_answer *a);
void mcp_exec_signal(struct mcp_call *c, const struct mcp_answer *a);
void mcp_exec_command(struct mcp_call *c, const struct mcp_answer *a);
void mcp_write_stdin(struct mcp_call *c, const struct mcp_answer *a);

/* The client of these ids is gone: nothing is held for it any more. */
void mcp_exec_leave(const struct mcp *m, const char *scope);

/* max_output_tokens, in bytes. */
size_t mcp_output_max(const struct mcp_call *c);

/* Whether an exec, as the API writes it, is over. */
bool mcp_exec_is_done(const json_t *exec);

/* One that is over, of which there is no status, is a failure: its result says so, and what to do next. */
void mcp_exec_judge(struct mcp_call *c, json_t *result, const json_t *exec);

/*
 * What an exec that the API has given with format=raw has printed to "output", "stdout" or "stderr", as text to
 * be freed; NULL when it has no such stream. *omitted grows by what is missing.
 */
char *mcp_exec_stream(const json_t *exec, const char *name, uint64_t *omitted);

/* A member that counts bytes; 0 when there is none. */
uint64_t mcp_offset(const json_t *object, const char *name);

/* A number in the headers of an answer; 0 when there is none. */
uint64_t mcp_answer_number(const struct mcp_answer *a, const char *name);

/* Ask for output from c->cursor on, up to `to` (0: all there is, but at most 1 MiB). */
void mcp_ask_output(struct mcp_call *c, mcp_step next, uint64_t to);
