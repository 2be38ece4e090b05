/*
 * State: what a session is at, as an agent has to know it: whether the shell is at its prompt, what runs in the
 * foreground and whether that waits for input, and of which kind. From the kernel (shell/proc/foreground.h), the marks of
 * the shell's prompt, and the screen. It is that of the moment: nobody follows it.
 *
 *   prompt         the shell itself reads a line at its prompt, and no mark says that it is a command that reads
 *   starting       the shell has not come to its first prompt yet: its startup files run, or wait for `input`
 *   waiting_input  a program of the foreground waits for input; also a shell that waits for the rest of a line
 *   fullscreen     a program has the alternate screen; `waits` says whether it waits for input
 *   stopped        all of the foreground has been stopped. A shell with job control takes the terminal back
 *                  then: that is a prompt, with stopped_jobs
 *   running        anything else
 */
#pragma once

#include "ring/screen/screen.h"
#include "shell/block/blocks.h"
#include "shell/exec/executor.h"
#include "shell/proc/foreground.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATE_FRESH_MS 30u /* a program may not have seen yet what was typed so short a time ago */
#define STATE_QUIET_MS \
	200u /* of a program that cannot be looked into, before it is taken for waiting */
#define STATE_CWD_MAX 4096u

enum state_status {
	STATE_PROMPT,
	STATE_STARTING,
	STATE_RUNNING,
	STATE_WAITING_INPUT,
	STATE_STOPPED,
	STATE_FULLSCREEN,
	STATE_EXITED,
};

enum state_input {
	STATE_INPUT_NONE,     /* nothing waits for any */
	STATE_INPUT_LINE,     /* a line, which is echoed */
	STATE_INPUT_PASSWORD, /* a line, which is not */
	STATE_INPUT_RAW,      /* keys */
};

/* See the contract of GET /api/session/ID/state in ws/api/openapi.json. */
struct pane_state {
	enum state_status status;
	enum state_input input;
	bool certain; /* false: some of it is a guess: by the terminal's modes, by silence, or too early to say */
	struct foreground foreground; /* pid 0: unknown */
	bool shell_in_front;          /* the foreground is the shell itself */
	unsigned stopped_jobs;        /* at the prompt */
	uint64_t quiet_ms, offset, screen_version;
	char cwd[STATE_CWD_MAX + 1];      /* of the shell; "" when it is not known */
	char title[SCREEN_TITLE_MAX + 1]; /* "" when there is none */
	bool alternate;
	bool pasting; /* a paste has begun and not ended: what its client types is part of it */
	unsigned rows, cols;
	char exec[RECORD_ID_MAX + 1]; /* the command for a program that runs, or "" */
	char block[BLOCK_ID_MAX + 1]; /* the block that runs, or "" */
	int exit_status;              /* wait(2) status, STATE_EXITED only */
	bool exit_known;
};

/* "prompt", "running" ...; "line", "password", "raw" or NULL. */
const char *state_status_name(enum state_status status);
const char *state_input_name(enum state_input input);

/*
 * Tell the state of a pane in any state of its life, with the executor that is its. Takes less than half a millisecond,
 * and waits for nothing but the kernel to hand over what has been written to the terminal.
 */
void pane_state(struct pane *p, struct executor *x, struct pane_state *ret_state);

/* What is known of the foreground, apart from the session that it belongs to. */
struct state_evidence {
	const struct foreground *foreground;
	pid_t shell;
	bool marked;             /* the shell gives marks of its prompt, and they say: */
	enum exec_prompt prompt; /* this */
	bool starting;  /* the shell will give such marks, and has not come to a prompt yet */
	bool executing; /* a command for a program has been typed, or runs */
	bool begun;     /* it runs, as the shell has told */
	bool alternate;
	bool fresh;  /* something has been typed just now */
	bool behind; /* there is output, or a record, that has not been followed yet */
	uint64_t quiet_ms;
};

/* What follows from it: fills in status, input and certain. Pure. */
void state_judge(const struct state_evidence *e, struct pane_state *ret_state);
