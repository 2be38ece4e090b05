/*
 * The state of a session, as agents need it: whether the shell is at its prompt, which program runs
 * in the foreground, whether that waits for input, and of which kind. It is computed at one moment
 * from the kernel (shell/proc/foreground.h), the marks of the shell's prompt, and the screen.
 *
 *   prompt         the shell reads a line at its prompt; no mark says that a builtin such as `read` does
 *   starting       the shell has shown no prompt yet: its startup files run, or wait for `input`
 *   waiting_input  a program of the foreground waits for input; also a shell that waits for the rest of a line
 *   fullscreen     a program uses the alternate screen; `waits` says whether it waits for input
 *   stopped        the whole foreground is stopped. A shell with job control takes the terminal back then, which
 *                  makes it a prompt with stopped_jobs
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

#define STATE_FRESH_MS 30u  /* a program may not have read input that is younger */
#define STATE_QUIET_MS 200u /* of silence, before an unreadable program is said to wait */
#define STATE_CWD_MAX 4096u

/* See the head of this file. */
enum state_status {
	STATE_PROMPT,
	STATE_STARTING,
	STATE_RUNNING,
	STATE_WAITING_INPUT,
	STATE_STOPPED,
	STATE_FULLSCREEN,
	STATE_EXITED,
};

/* The kind of input that a program waits for. */
enum state_input {
	STATE_INPUT_NONE,     /* it does not wait */
	STATE_INPUT_LINE,     /* a line, with echo */
	STATE_INPUT_PASSWORD, /* a line, without echo */
	STATE_INPUT_RAW,      /* keys */
};

/* The state; see GET /api/session/ID/state in ws/api/openapi.json. */
struct pane_state {
	enum state_status status;
	enum state_input input;
	bool certain; /* false: guessed from modes or silence, or too early to say */
	bool coming;  /* the program waits, and output that it wrote before may still arrive */
	struct foreground foreground; /* pid 0: unknown */
	unsigned stopped_jobs;        /* at the prompt */
	uint64_t quiet_ms, offset, screen_version;
	char cwd[STATE_CWD_MAX + 1];      /* of the shell; "" when it is not known */
	char title[SCREEN_TITLE_MAX + 1]; /* "" when there is none */
	struct progress progress;         /* of the program; none at the prompt */
	bool alternate;
	bool pasting; /* a bracketed paste has begun and not ended */
	unsigned rows, cols;
	char exec[RECORD_ID_MAX + 1]; /* id of the current exec, or "" */
	char block[BLOCK_ID_MAX + 1]; /* id of the running block, or "" */
	int exit_status;              /* wait(2) status, STATE_EXITED only */
	bool exit_known;
};

/* "prompt", "running" ... */
const char *state_status_name(enum state_status status);

/* "line", "password", "raw", or NULL for STATE_INPUT_NONE. */
const char *state_input_name(enum state_input input);

/*
 * Compute the state of a pane, in any phase of its life, with its executor. Takes less than half a
 * millisecond; waits only for the kernel to deliver what has been written to the terminal.
 */
void pane_state(struct pane *p, struct executor *x, struct pane_state *ret_state);

/* Whether the terminal of a running pane has output that its holder has not read. */
bool state_has_unread(const struct pane *p);

/* What state_judge() judges by. */
struct state_evidence {
	const struct foreground *foreground;
	pid_t shell;
	bool marked;             /* the shell marks its prompt, */
	enum exec_prompt prompt; /* which is in this state */
	bool starting;           /* the shell will mark its prompt, and has shown none yet */
	bool executing;          /* an exec has been typed, or runs */
	bool begun;              /* it runs, as the shell has reported */
	bool alternate;
	bool fresh;  /* input has been typed just now */
	bool behind; /* output or a record has not been followed yet */
	uint64_t quiet_ms;
};

/* Judge: fill in status, input and certain. Pure. */
void state_judge(const struct state_evidence *e, struct pane_state *ret_state);
