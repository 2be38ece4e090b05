/*
 * The executor: the part of a session that runs commands (shell/exec/exec.h). It follows the
 * shell's marks and records, decides whether a line can be typed, types the next command, and holds
 * back other input meanwhile.
 */
#pragma once

#include "shell/block/blocks.h"
#include "shell/exec/exec.h"
#include "shell/exec/executors.h"
#include "shell/input/typing.h"
#include "shell/pane/pane.h"
#include "shell/store/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXEC_TICK_MS 20u
#define EXEC_REASON_SIZE 128u

/* How long to wait for the shell: */
#define EXEC_UNDO_MS 5000u      /* to be idle at its prompt, so that leftovers can be undone */
#define EXEC_START_MS 5000u     /* to report the start of a typed command */
#define EXEC_SIGN_MS 2000u      /* to answer the state key after that (see unanswered.c) */
#define EXEC_PROMPT_MS 10000u   /* to show its first prompt */
#define EXEC_STARTUP_MS 120000u /* the same, while commands are queued */
#define EXEC_MUTE_MS 5000u      /* to report a command's end, once it is at its prompt */
#define EXEC_KILLED_MS 1000u    /* to report the end after SIGKILL; the least grace */
#define EXEC_REPEAT_INT_MS 300u /* to act on an INT before it gets another */
#define EXEC_SETTLE_MS 100u     /* to act on a line that was entered */
#define EXEC_UNMARKED_MS 300u   /* to stay silent at a prompt without marks before it is ready */
#define EXEC_UNSEEN_MS 2000u    /* the same, if the kernel does not show what it waits for */
#define EXEC_RECORD_MS RECORD_WAIT_MS

/* After a deadline, how long to read pending output that may report an earlier end. */
#define EXEC_OVERDUE_MS 1000u
/* How long a program of the startup files may read the terminal, to ask what it supports. */
#define EXEC_STARTUP_READER_MS 200u
/* How long input is held back until the shell has put a half-typed line back. */
#define EXEC_HOLD_MS 200u

/* executor.startup_modes until the shell has shown a prompt */
#define EXEC_STARTUP_MODES_ALL (~0u)

/* State of the prompt, as its marks report it. After EXEC_PROMPT_NONE the shell has printed marks. See exec_move_prompt(). */
enum exec_prompt {
	EXEC_PROMPT_UNKNOWN, /* an earlier server has started the shell; no mark was read yet */
	EXEC_PROMPT_NONE,    /* the shell has started and has not shown one yet */
	EXEC_PROMPT_FIRST,   /* the shell draws its first one */
	EXEC_PROMPT_COMING,  /* a command is over; the shell draws its prompt */
	EXEC_PROMPT_READY,   /* a line can be typed */
	EXEC_PROMPT_CONTINUATION, /* an incomplete line has been entered */
	EXEC_PROMPT_LEFT,         /* a line was entered, and its command runs */
};

/* Whether the shell has to send a sign before anything is typed, see unanswered.c. */
enum exec_sign {
	EXEC_SIGN_NONE,  /* it has read all that was typed */
	EXEC_SIGN_DUE,   /* it may still run what was typed, and is to be asked */
	EXEC_SIGN_ASKED, /* it has been asked since its last prompt */
};

/* A deferred end mark of a line that a person entered, see exec_defer_line_end(). */
struct exec_deferred_mark {
	uint64_t start, end; /* offsets of the mark; 0: there is none */
	int status;
	bool claimed; /* a prompt was reported while the shell seemed to wait for a child */
};

/* Where the cursor was when the shell printed its end mark, before it drew the prompt. */
struct exec_end_mark_place {
	unsigned marks; /* end marks since the last prompt; bash draws one with its prompt */
	uint64_t line;
	unsigned column;    /* from 1 */
	unsigned leftovers; /* enum leftover: modes that the program has left on the terminal */
};

/* The session fills in the fields up to `history`; the rest is zero while it is closed. */
struct executor {
	struct pane *pane;            /* borrowed, like the next four */
	struct blocks *blocks;        /* informed of all commands */
	struct typing *typing;        /* leases, and what has been typed */
	struct executors *all;        /* shared by all executors */
	void *user;                   /* of all->callbacks */
	enum integration_shell shell; /* which shell runs */
	bool history;                 /* what EXEC_HISTORY_DEFAULT stands for */
	bool open;
	char nonce[INTEGRATION_NONCE_LENGTH + 1]; /* "": the shell has no integration */
	int script_fd;
	struct outline outline;
	enum exec_prompt prompt;
	uint64_t prompt_ms;     /* loop time of the last change of prompt, or of output */
	uint64_t prompt_offset; /* end of the last mark of a ready prompt; 0: none yet */
	unsigned column;        /* where a line begins, from 1; 0: not known */
	const char *editor;     /* the line editor, from the prompt record; NULL or "": readline */
	char reason[EXEC_REASON_SIZE]; /* text of exec_busy_reason() or exec_unable_reason() */
	struct look look;              /* waits for the screen to reach prompt_offset */
	struct exec_end_mark_place end_place;
	unsigned startup_modes; /* enum leftover: set by startup files; never undone */
	unsigned undo;          /* enum leftover: to be undone at the prompt */
	unsigned undo_row;      /* row in which that prompt ends, from 1 */
	uint64_t undo_offset;   /* prompt_offset of that prompt */
	unsigned entered;       /* lines entered by people that the shell has not reported yet */
	struct exec_deferred_mark deferred_mark;
	bool line_reported;    /* a line has been reported since the last prompt */
	uint64_t entered_ms;   /* loop time of the last one entered */
	uint64_t signalled_ms; /* loop time of the last typed Ctrl-C, or signal of exec_cancel() */
	struct typing_pasting paste; /* as far as it has been written to the terminal */
	uint64_t ends;               /* counter: ends of commands that the shell has reported */
	bool paste_undisturbed;      /* it began when no entered line was pending */
	bool searching;            /* readline's history search may be open, see exec_type_key() */
	char error_terminal[64];   /* path of the second terminal, or "" */
	bool error_terminal_asked; /* the holder has been asked for it */
	uint64_t born_ms;          /* loop time of the shell's start */
	uint64_t looked_ms;     /* loop time of the last look at readers before the first prompt */
	uint64_t hold_until_ms; /* loop time up to which other input is held */
	bool back_due;          /* a half-typed line is to be put back at the next prompt */
	struct exec *current;
	struct exec *queue;    /* list */
	struct exec *finished; /* list, oldest first */
	unsigned queue_count, finished_count;
	uint64_t past_offset; /* output before it was read by an earlier server, time unknown */
	uint64_t last_number; /* exec.number of the last exec */
	struct lines log;     /* the file "execs" */
	enum exec_sign sign;
	unsigned signs_due; /* state records to come, the last of which is the sign */
	struct shell_environment_waiter *environment_waiters;
	uint64_t environment_due_ms; /* loop time until which it is awaited; 0: it is not */
	bool environment_asked;      /* the shell has been asked for it */
	uint8_t *held_input;         /* input of clients that is held back; owned */
	size_t held_input_length;
	struct executor *prev, *next; /* in the list executors.busy; prev is NULL outside of it */
};

/*
 * Whether another server can continue: no command waits in the queue, is being typed or is being cancelled, and no input is
 * held back.
 */
bool executor_is_settled(const struct executor *x);

/* Make a nonce for a session whose shell gets the integration. Returns 0 or a negative errno. */
int exec_make_nonce(struct executor *x);

/* Whether the shell has been given the integration. */
bool exec_is_possible(const struct executor *x);

/*
 * Begin to follow the shell. The pane's history and the blocks must be open. adopted: an earlier
 * server has followed it; load what that server has stored of execs and blocks.
 */
void exec_open(struct executor *x, bool adopted);

/*
 * Retry writes to the log that failed. Returns whether there were any. *ret_error: 0, or a negative
 * errno if it should be called again later.
 */
bool exec_log_catch_up(struct executor *x, int *ret_error);

/* The session is over: unfinished execs end as EXEC_END_LOST, and all watchers get gone(). */
void exec_close(struct executor *x);

/* The history was consumed up to offset. Returns the event log position up to which it was read. */
uint64_t exec_follow(struct executor *x, uint64_t offset);

/* The shell has exited, and all of its output has been followed. */
void exec_shell_ended(struct executor *x);

/*
 * Write input from clients to the terminal: now, or once the command that is being typed has begun.
 * Returns 0, -ENOBUFS, or -ERR_NOT_RUNNING once the session has ended.
 */
int exec_write(struct executor *x, const void *bytes, size_t length);

/* The paste has ended or was dropped: treat further input as typed. */
void exec_forget_paste(struct executor *x);

/* Whether the ring has bytes or events that have not been followed yet. */
bool exec_is_behind(const struct executor *x);

/* Bytes of input that no program has read yet, held back ones included. */
size_t exec_input_waiting(const struct executor *x);

/* The screen has parsed an OSC 133 mark. */
void exec_screen_mark(struct executor *x, const struct screen_event *mark);

/* The requested terminal for standard error is open at path; NULL: it cannot be had. */
void exec_error_terminal_opened(struct executor *x, const char *path);

/* Check queue and deadlines. Called every EXEC_TICK_MS while executors_add_busy() is in effect. */
void exec_tick(struct executor *x);

/* The facts of an exec that a block records; user: the executor. A callback of struct blocks. */
bool exec_find_facts(void *user, const char *id, struct block_exec *ret_exec);
