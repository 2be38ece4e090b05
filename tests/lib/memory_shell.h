/*
 * A test in the place of a bash with the shell integration, in a session of tests/lib/memory_api.h whose holder is
 * equipped. It writes the marks and records that bash would write: for the prompt, the start of a command and its end.
 * The command is the executor's current exec; the helpers check that it was typed.
 */
#pragma once

#include "tests/lib/memory_api.h"

#include <stdio.h>
#include <string.h>

/* Write a mark: "C;id=exec_1" without the nonce, which follows its first field. */
static inline void memory_shell_mark(const char *session, const char *kind, const char *rest)
{
	char text[512];
	snprintf(text, sizeof text, "\033]133;%s;aid=%s%s\a", kind,
		memory_api_session(session)->executor.nonce, rest);
	memory_holder_say(memory_api_holder(session), text);
}

/* Write a record, with '|' as separator. */
static inline void memory_shell_record(const char *session, char kind, const char *rest)
{
	char text[1024];
	snprintf(text, sizeof text, "%c|%s|%s\x1e", kind,
		memory_api_session(session)->executor.nonce, rest);
	for (char *at = text; *at; at++)
		*at = *at == '|' ? '\x1f' : *at;
	memory_holder_record(memory_api_holder(session), text);
}

static inline void memory_shell_prompt(const char *session)
{
	memory_shell_mark(session, "A", "");
	memory_holder_say(memory_api_holder(session), "$ ");
	memory_shell_mark(session, "B", "");
	memory_api_settle();
}

/* Start a session whose shell shows its first prompt. */
static inline struct session *memory_shell_start(const char *id)
{
	char body[256];
	memory_holder_equip_next();
	snprintf(body, sizeof body, "{'id':'%s','shell':'bash'}", id);
	cr_assert_eq(memory_api_status("POST /api/session/create", body), 200);
	struct session *s = memory_api_session(id);
	cr_assert(s->executor.open, "the session cannot run commands");
	memory_shell_prompt(id);
	return s;
}

/* .init of a suite whose tests begin with such a session "s". */
static inline void memory_shell_open(void)
{
	memory_api_open();
	memory_shell_start("s");
}

/* The seal of the last command that was typed. */
static char memory_shell_seal[2 * SEAL_DIGITS + 1];

/* Wait until the current exec has been typed, and check the seal. */
static inline struct exec *memory_shell_await_typed(const char *session)
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

/* Begin the command that was typed. */
static inline struct exec *memory_shell_begin(const char *session)
{
	struct exec *e = memory_shell_await_typed(session);
	char text[128];
	snprintf(text, sizeof text, ";id=%s", e->id);
	memory_shell_mark(session, "C", text);
	snprintf(text, sizeof text, "%s|0", e->id);
	memory_shell_record(session, 'C', text);
	memory_api_settle();
	cr_assert_eq(e->state, EXEC_RUNNING);
	return e;
}

/* End the current command and show the prompt. */
static inline void memory_shell_end(const char *session, int status)
{
	const struct exec *e = session_executor(memory_api_session(session))->current;
	char text[128], kind[16];
	cr_assert_not_null(e, "no command is running");
	snprintf(kind, sizeof kind, "D;%d", status);
	snprintf(text, sizeof text, ";id=%s;q=%.*s", e->id, (int)SEAL_DIGITS, memory_shell_seal);
	memory_shell_mark(session, kind, text);
	snprintf(text, sizeof text, "%s;q=%s|%d|%d|/tmp", e->id, memory_shell_seal + SEAL_DIGITS,
		status, status);
	memory_shell_record(session, 'D', text);
	memory_api_settle();
	memory_shell_prompt(session);
}

/* Run the command that was typed: it prints output and ends with status. */
static inline void memory_shell_run(const char *session, const char *output, int status)
{
	memory_shell_begin(session);
	memory_holder_say(memory_api_holder(session), output);
	memory_shell_end(session, status);
}

/* A person types a line at the prompt; it prints output and ends with status. */
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
