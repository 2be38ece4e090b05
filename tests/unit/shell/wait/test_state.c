#include "shell/wait/state.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define SHELL 100
#define OTHER 200

/* The terminal's modes. */
enum modes { LINE, PASSWORD, RAW };
enum place { FRONT, PROGRAM };

static const struct {
	const char *name;
	enum place place;
	enum blocked waits;
	enum modes modes;
	enum state_status status;
	enum state_input input;
	struct state_evidence e;
	const char *waiter;
	bool child; /* not the leader waits, but its child */
	bool hidden, truncated, stopped, uncertain;
} cases[] = {
	{"prompt", FRONT, BLOCKED_EVENT, RAW, STATE_PROMPT, STATE_INPUT_NONE,
		{.marked = true, .prompt = EXEC_PROMPT_READY}},
	{"prompt without line editing", FRONT, BLOCKED_READ, LINE, STATE_PROMPT, STATE_INPUT_NONE,
		{.marked = true, .prompt = EXEC_PROMPT_READY}},
	{"prompt just after typing", FRONT, BLOCKED_EVENT, RAW, STATE_PROMPT, STATE_INPUT_NONE,
		{.marked = true, .prompt = EXEC_PROMPT_READY, .fresh = true}, .uncertain = true},
	{"prompt of a shell without marks", FRONT, BLOCKED_EVENT, RAW, STATE_PROMPT,
		STATE_INPUT_NONE, {0}},
	{"prompt or read of a simple shell", FRONT, BLOCKED_READ, LINE, STATE_PROMPT,
		STATE_INPUT_NONE, {0}, .uncertain = true},
	{"prompt in the alternate screen, which a program has left on", FRONT, BLOCKED_EVENT, RAW,
		STATE_PROMPT, STATE_INPUT_NONE,
		{.marked = true, .prompt = EXEC_PROMPT_READY, .alternate = true}},
	{"startup file that works", FRONT, BLOCKED_NO, LINE, STATE_STARTING, STATE_INPUT_NONE,
		{.starting = true}},
	{"startup file that reads a line", FRONT, BLOCKED_READ, LINE, STATE_STARTING,
		STATE_INPUT_LINE, {.starting = true}},
	{"startup file that reads a key", FRONT, BLOCKED_READ, RAW, STATE_STARTING, STATE_INPUT_RAW,
		{.starting = true}},
	{"program of a startup file that reads a password", PROGRAM, BLOCKED_READ, PASSWORD,
		STATE_STARTING, STATE_INPUT_PASSWORD, {.starting = true}},
	{"editor of a startup file", PROGRAM, BLOCKED_EVENT, RAW, STATE_FULLSCREEN, STATE_INPUT_RAW,
		{.starting = true, .alternate = true}},
	{"first prompt, whose marks have not arrived", FRONT, BLOCKED_EVENT, RAW, STATE_STARTING,
		STATE_INPUT_RAW, {.starting = true, .behind = true}, .uncertain = true},
	{"first prompt, whose marks never come", FRONT, BLOCKED_EVENT, RAW, STATE_PROMPT,
		STATE_INPUT_NONE, {.starting = true}, .uncertain = true},
	{"rest of a line", FRONT, BLOCKED_EVENT, RAW, STATE_WAITING_INPUT, STATE_INPUT_LINE,
		{.marked = true, .prompt = EXEC_PROMPT_CONTINUATION}},
	{"read", FRONT, BLOCKED_READ, LINE, STATE_WAITING_INPUT, STATE_INPUT_LINE,
		{.marked = true, .prompt = EXEC_PROMPT_LEFT}},
	{"read -s", FRONT, BLOCKED_READ, PASSWORD, STATE_WAITING_INPUT, STATE_INPUT_PASSWORD,
		{.marked = true, .prompt = EXEC_PROMPT_LEFT}},
	{"read -n1", FRONT, BLOCKED_READ, RAW, STATE_WAITING_INPUT, STATE_INPUT_RAW,
		{.marked = true, .prompt = EXEC_PROMPT_LEFT}},
	{"read -e in a command of ours", FRONT, BLOCKED_EVENT, RAW, STATE_WAITING_INPUT,
		STATE_INPUT_RAW,
		{.marked = true, .prompt = EXEC_PROMPT_LEFT, .executing = true, .begun = true}},
	{"prompt after a command of ours, whose marks have not arrived", FRONT, BLOCKED_EVENT, RAW,
		STATE_RUNNING, STATE_INPUT_NONE,
		{.marked = true,
			.prompt = EXEC_PROMPT_LEFT,
			.executing = true,
			.begun = true,
			.behind = true},
		.uncertain = true},
	{"prompt with a command of ours that the shell has not read yet", FRONT, BLOCKED_EVENT, RAW,
		STATE_RUNNING, STATE_INPUT_NONE,
		{.marked = true, .prompt = EXEC_PROMPT_LEFT, .executing = true}, .uncertain = true},
	{"prompt, or the next one, whose marks have not arrived", FRONT, BLOCKED_EVENT, RAW,
		STATE_PROMPT, STATE_INPUT_NONE,
		{.marked = true, .prompt = EXEC_PROMPT_READY, .behind = true}, .uncertain = true},
	{"prompt without line editing, whose marks have not arrived", FRONT, BLOCKED_READ, LINE,
		STATE_RUNNING, STATE_INPUT_NONE,
		{.marked = true,
			.prompt = EXEC_PROMPT_LEFT,
			.executing = true,
			.begun = true,
			.behind = true},
		.uncertain = true},
	{"shell that has lost its marks", FRONT, BLOCKED_EVENT, RAW, STATE_PROMPT, STATE_INPUT_NONE,
		{.marked = true, .prompt = EXEC_PROMPT_LEFT}, .uncertain = true},
	{"shell that works", FRONT, BLOCKED_NO, LINE, STATE_RUNNING, STATE_INPUT_NONE,
		{.marked = true, .prompt = EXEC_PROMPT_LEFT}},
	{"shell that may not be inspected, at its prompt", FRONT, BLOCKED_NO, RAW, STATE_PROMPT,
		STATE_INPUT_NONE, {.marked = true, .prompt = EXEC_PROMPT_READY}, .hidden = true,
		.uncertain = true},
	{"program in the place of the shell", FRONT, BLOCKED_READ, RAW, STATE_FULLSCREEN,
		STATE_INPUT_RAW, {.marked = true, .prompt = EXEC_PROMPT_LEFT, .alternate = true}},
	{"child of the shell in its group", FRONT, BLOCKED_READ, LINE, STATE_WAITING_INPUT,
		STATE_INPUT_LINE, {.marked = true, .prompt = EXEC_PROMPT_READY}, .child = true},
	{"program that works", PROGRAM, BLOCKED_NO, LINE, STATE_RUNNING, STATE_INPUT_NONE,
		{.marked = true, .prompt = EXEC_PROMPT_LEFT}},
	{"program that works, mark missing", PROGRAM, BLOCKED_NO, LINE, STATE_RUNNING,
		STATE_INPUT_NONE, {.marked = true, .prompt = EXEC_PROMPT_READY}},
	{"program that reads a line", PROGRAM, BLOCKED_READ, LINE, STATE_WAITING_INPUT,
		STATE_INPUT_LINE, {0}},
	{"program that reads a password", PROGRAM, BLOCKED_READ, PASSWORD, STATE_WAITING_INPUT,
		STATE_INPUT_PASSWORD, {0}},
	{"interpreter", PROGRAM, BLOCKED_EVENT, RAW, STATE_WAITING_INPUT, STATE_INPUT_RAW, {0},
		.waiter = "python3"},
	{"editor", PROGRAM, BLOCKED_EVENT, RAW, STATE_FULLSCREEN, STATE_INPUT_RAW,
		{.alternate = true}},
	{"editor that works", PROGRAM, BLOCKED_NO, RAW, STATE_FULLSCREEN, STATE_INPUT_NONE,
		{.alternate = true}},
	{"stopped", PROGRAM, BLOCKED_NO, LINE, STATE_STOPPED, STATE_INPUT_NONE, {.alternate = true},
		.stopped = true},
	{"ssh, quiet", PROGRAM, BLOCKED_EVENT, RAW, STATE_WAITING_INPUT, STATE_INPUT_RAW,
		{.quiet_ms = 5000}, .waiter = "ssh", .uncertain = true},
	{"ssh, printing", PROGRAM, BLOCKED_EVENT, RAW, STATE_RUNNING, STATE_INPUT_NONE,
		{.quiet_ms = 5}, .waiter = "ssh", .uncertain = true},
	{"ssh that asks", PROGRAM, BLOCKED_READ, PASSWORD, STATE_WAITING_INPUT,
		STATE_INPUT_PASSWORD, {0}, .waiter = "ssh"},
	{"su that asks", PROGRAM, BLOCKED_NO, PASSWORD, STATE_WAITING_INPUT, STATE_INPUT_PASSWORD,
		{.quiet_ms = 5000}, .hidden = true, .uncertain = true},
	{"su that has just asked", PROGRAM, BLOCKED_NO, PASSWORD, STATE_RUNNING, STATE_INPUT_NONE,
		{.quiet_ms = 5}, .hidden = true, .uncertain = true},
	{"sudo make", PROGRAM, BLOCKED_NO, LINE, STATE_RUNNING, STATE_INPUT_NONE,
		{.quiet_ms = 5000}, .hidden = true, .uncertain = true},
	{"sudo vi", PROGRAM, BLOCKED_NO, RAW, STATE_FULLSCREEN, STATE_INPUT_RAW,
		{.quiet_ms = 5000, .alternate = true}, .hidden = true, .uncertain = true},
	{"many processes", PROGRAM, BLOCKED_NO, LINE, STATE_RUNNING, STATE_INPUT_NONE,
		{.quiet_ms = 5000}, .truncated = true, .uncertain = true},
};

Test(state_judge, cases)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct pane_state t = {0};
		pid_t group = cases[i].place == FRONT ? SHELL : OTHER;
		struct foreground f = {.group = group,
			.pid = group,
			.waits = cases[i].waits,
			.waiter = cases[i].waits == BLOCKED_NO ? 0 : group + cases[i].child,
			.hidden = cases[i].hidden,
			.truncated = cases[i].truncated,
			.stopped = cases[i].stopped,
			.modes_known = true,
			.line = cases[i].modes != RAW,
			.echo = cases[i].modes == LINE};
		snprintf(f.waiter_name, sizeof f.waiter_name, "%s",
			cases[i].waiter ? cases[i].waiter : "program");
		struct state_evidence e = cases[i].e;
		e.foreground = &f;
		e.shell = SHELL;
		state_judge(&e, &t);
		cr_expect_eq(t.status, cases[i].status, "%s: %s", cases[i].name,
			state_status_name(t.status));
		cr_expect_eq(t.input, cases[i].input, "%s: %s", cases[i].name,
			state_input_name(t.input) ? state_input_name(t.input) : "no input");
		cr_expect_eq(t.certain, !cases[i].uncertain, "%s", cases[i].name);
	}
}

Test(state_judge, closed_terminal_is_uncertain)
{
	struct pane_state t = {0};
	struct foreground f = {0};
	state_judge(
		&(struct state_evidence){.foreground = &f, .shell = SHELL, .quiet_ms = 5000}, &t);
	cr_expect_eq(t.status, STATE_RUNNING);
	cr_expect_not(t.certain);
}
