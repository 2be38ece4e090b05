/*
 * A bash with the shell integration, played by the test: of a session of tests/lib/memory_api.h, whose holder is equipped.
 * It says by marks and records what the real one would: that it is at its prompt, that a command begins, and how it ended.
 * What it was asked to run is the executor's current exec; that it was typed is looked at.
 */
#pragma once

#include "tests/lib/memory_api.h"

#include <stdio.h>
#include <string.h>

/* A mark: "C;id=exec_1" without the nonce, which goes behind its first field. */
static inline void memory_shell_mark(const char *session, const char *kind, const char *rest)
{
	char text[512];
	snprintf(text, sizeof text, "\033]133;%s;aid=%s%s\a", kind,
		memory_api_session(session)->executor.nonce, rest);
	memory_holder_say(memory_api_holder(session), text);
}

/* A record, with '|' for what separates its fields. */
static inline void memory_shell_record(const char *session, char kind, const char *rest)
{
	char text[1024];
	snprintf(text, sizeof text, "%c|%s|%s\x1e", kind,
		memory_api_session(session)->executor.nonce, rest);
	for (char *at = text; *at; at++)
		*at = *at == '|' ? '\x1f' : *at;
	memory_holder_record(memory_api_holder(session), text);
}

/* It shows its prompt. */
static inline void memory_shell_prompt(const char *session)
{
	memory_shell_mark(session, "A", "");
	memory_holder_say(memory_api_holder(session), "$ ");
	memory_shell_mark(session, "B", "");
	memory_api_settle();
}

/* A session whose shell is at its first prompt. */
static inline struct session *memory_shell_start(const char *id)
{
	char body[256];
	memory_holder_equip_next();
	snprintf(body, sizeof body, "{'id':'%s','shell':'bash'}", id);
	cr_assert_eq(memory_api_status("POST /api/session/create", body), 200);
	struct session *s = memory_api_session(id);
	cr_assert(s->executor.open, "it cannot be given commands");
	memory_shell_prompt(id);
	return s;
}

/* The seal of what was typed last. */
static char memory_shell_seal[2 * SEAL_DIGITS + 1];

/* What was typed for it, whose turn it is; waits for that. */
static inline struct exec *memory_shell_take(const char *session)
{
	const struct memory_holder *h = memory_api_holder(session);
	struct executor *x = session_executor(memory_api_session(session));
	cr_assert(LOOP_UNTIL(&memory_api.loop,
			  x->current && x->current->state == EXEC_STARTING && h->input_length > 0),
		"nothing was typed");
	const char *typed = memory_holder_take_input(memory_api_holder(session));
	const size_t load = strlen(INTEGRATION_LOAD SEAL_LEAD);
	cr_assert_eq(strncmp(typed, INTEGRATION_LOAD SEAL_LEAD, load), 0);
	cr_assert_str_eq(typed + load + 2 * SEAL_DIGITS, "\r");
	snprintf(memory_shell_seal, sizeof memory_shell_seal, "%.*s", (int)(2 * SEAL_DIGITS),
		typed + load);
	return x->current;
}

/* It begins the command that was typed. */
static inline struct exec *memory_shell_begin(const char *session)
{
	struct exec *e = memory_shell_take(session);
	char text[128];
	snprintf(text, sizeof text, ";id=%s", e->id);
	memory_shell_mark(session, "C", text);
	snprintf(text, sizeof text, "%s|0", e->id);
	memory_shell_record(session, 'C', text);
	memory_api_settle();
	cr_assert_eq(e->state, EXEC_RUNNING);
	return e;
}

/* The one that runs ends, and there is a prompt again. */
static inline void memory_shell_end(const char *session, int status)
{
	const struct exec *e = session_executor(memory_api_session(session))->current;
	char text[128], kind[16];
	cr_assert_not_null(e, "nothing runs");
	snprintf(kind, sizeof kind, "D;%d", status);
	snprintf(text, sizeof text, ";id=%s;q=%.*s", e->id, (int)SEAL_DIGITS, memory_shell_seal);
	memory_shell_mark(session, kind, text);
	snprintf(text, sizeof text, "%s;q=%s|%d|%d|/tmp", e->id, memory_shell_seal + SEAL_DIGITS,
		status, status);
	memory_shell_record(session, 'D', text);
	memory_api_settle();
	memory_shell_prompt(session);
}

/* The command that was typed prints this and ends so. */
static inline void memory_shell_run(const char *session, const char *output, int status)
{
	memory_shell_begin(session);
	memory_holder_say(memory_api_holder(session), output);
	memory_shell_end(session, status);
}

/* Somebody types a line at the prompt, which prints this and ends so. */
static inline void memory_shell_human(
	const char *session, const char *line, const char *output, int status)
{
	char text[128], kind[16];
	struct memory_holder *h = memory_api_holder(session);
	memory_holder_say(h, line);
	memory_holder_say(h, "\r\n");
	memory_shell_mark(session, "C", "");
	memory_holder_say(h, output);
	snprintf(kind, sizeof kind, "D;%d", status);
	memory_shell_mark(session, kind, "");
	snprintf(text, sizeof text, "%d||/tmp|%d|", status, status);
	memory_shell_record(session, 'P', text);
	memory_shell_prompt(session);
}
