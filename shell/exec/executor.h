/*
 * The executor: the part of a session that runs commands (shell/exec/exec.h). It follows the shell's marks and records,
 * knows whether a line can be typed, types the next command, and lets the input of others wait meanwhile.
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
#define EXEC_UNDO_MS 5000u /* for a prompt to be at rest, to undo what a program has left */
#define EXEC_REASON_SIZE 128u
#define EXEC_START_MS 5000u     /* for the shell to take what was typed */
#define EXEC_SIGN_MS 2000u      /* for a sign that it has not */
#define EXEC_STARTUP_MS 120000u /* for a new shell's first prompt, for what waits for that */
#define EXEC_PROMPT_MS 10000u   /* for a new shell's first prompt */
#define EXEC_MUTE_MS 5000u      /* at its prompt without a word of what it has run */
#define EXEC_KILLED_MS 1000u    /* at least, for the end of what was sent KILL to be told */
#define EXEC_OVERDUE_MS 1000u   /* for what tells that a command has ended in time */
#define EXEC_READER_MS \
	200u /* for a program that startup files start, to ask what the terminal can */
#define EXEC_AGAIN_MS 300u    /* for a shell to act on an INT before it gets another */
#define EXEC_SETTLE_MS 100u   /* for a shell to act on a line that somebody has entered */
#define EXEC_UNMARKED_MS 300u /* of silence at a prompt that has lost its marks */
#define EXEC_UNSEEN_MS 2000u  /* the same, where it cannot be seen what the shell waits for */
#define EXEC_RECORD_MS RECORD_WAIT_MS
#define EXEC_HOLD_MS 200u /* that typing waits for a short command to give a half-typed line back */

/* Where a prompt is, as far as its marks tell. */
enum exec_prompt {
	EXEC_PROMPT_NONE,         /* the shell has not shown one yet */
	EXEC_PROMPT_COMING,       /* a command is over */
	EXEC_PROMPT_READY,        /* a line can be typed */
	EXEC_PROMPT_CONTINUATION, /* a line has been entered that goes on */
	EXEC_PROMPT_LEFT,         /* a line has been entered and runs */
};

/* A mark that tells that somebody's line is over, as long as it may be claimed (claim.c). */
struct exec_aside {
	uint64_t start, end; /* of the mark; 0: there is none */
	int status;
	bool claimed; /* a prompt was told of while the shell seemed to wait for a child; its own may have begun since */
};

/* Where the cursor was when the shell told that what had run was over, before it has drawn its prompt. */
struct exec_end_place {
	unsigned marks; /* that came since a line could be typed; bash draws one with its prompt */
	uint64_t line;
	unsigned column;    /* from 1 */
	unsigned leftovers; /* enum leftover: what the program has left on its terminal */
};

/*
 * The part of a session that runs commands. Who has it fills in the first part before anything else is done with it; all
 * zero otherwise is closed.
 */
struct executor {
	struct pane *pane;     /* borrowed, as these: */
	struct blocks *blocks; /* hear of all commands */
	struct typing *typing; /* who may, and what has been typed */
	struct executors *all;
	void *user;                   /* of their callbacks */
	enum integration_shell shell; /* and which it is */
	bool possible;                /* the shell has been given the integration */
	bool history;                 /* what EXEC_HISTORY_DEFAULT stands for */
	bool open;
	char nonce[INTEGRATION_NONCE_LENGTH + 1];
	int script_fd;
	struct outline outline;
	enum exec_prompt prompt;
	uint64_t prompt_ms; /* loop time of the last change of it, or of output */
	uint64_t prompt_offset; /* behind the mark that last said that a line can be typed; 0: none yet */
	unsigned column;        /* where a line begins, from 1; 0: not known */
	const char *editor; /* what the shell's prompt says of its line editor; NULL or "": it is readline */
	char reason[EXEC_REASON_SIZE]; /* of exec_busy() or exec_unable() */
	struct look look;              /* for the screen to have seen that */
	struct exec_end_place end_place;
	bool spared_known;    /* the shell's first prompt has been seen: */
	unsigned spared;      /* enum leftover: what its startup files have set, which stays */
	unsigned undo;        /* enum leftover: what is to be undone at the prompt */
	unsigned undo_row;    /* with the last row of that, from 1 */
	uint64_t undo_offset; /* and this prompt_offset */
	unsigned entered; /* lines that somebody has entered, and of which the shell has not told yet */
	struct exec_aside aside;
	bool left; /* a line has been told of since the last prompt */
	uint64_t entered_ms;
	uint64_t signalled_ms; /* loop time of the last signal that has ended a command, or was to */
	struct typing_pasting paste; /* as far as the terminal has it */
	bool paste_alone;            /* open: it began when no line was on its way to the shell */
	bool searching; /* readline's search in the history may be open, see exec_type_key() */
	char error_terminal[64]; /* path of the second terminal, or "" */
	bool error_asked;        /* and it has been asked for */
	bool newborn;            /* its shell has been started by this server */
	bool first_due;          /* and its first prompt is being made */
	bool releasing;          /* what was held is being typed */
	uint64_t born_ms;        /* loop time of the shell's start */
	uint64_t looked_ms; /* loop time of the last look at what reads before the first prompt */
	uint64_t hold_until_ms; /* loop time up to which input of others waits */
	bool back_due;          /* a half-typed line is to be put back at the next prompt */
	struct exec *current;
	struct exec *queue;    /* list */
	struct exec *finished; /* list, oldest first */
	unsigned queued, kept;
	uint64_t past_offset; /* what is before was printed under an earlier server: nobody knows when */
	uint64_t numbers; /* that have been given */
	struct lines log; /* what outlives the server */
	bool unanswered; /* something was typed that the shell may still take: nothing else is, until it gives a sign */
	bool sign_asked; /* since the last prompt */
	unsigned signs_due;
	struct shell_environment_waiter *environment_waiters;
	uint64_t environment_due_ms; /* loop time until which its environment is waited for; 0: it is not */
	bool environment_asked; /* the shell has been asked for it */
	uint8_t *held;          /* input of others */
	size_t held_length;
	struct executor *prev, *next; /* in the table's list of those with something to do */
	bool listed;
};

/* A new nonce for a session whose shell gets the integration. Returns 0 or a negative errno. */
int exec_make_nonce(struct executor *x);

/*
 * Begin to follow: the history of its pane and the journal are open. adopted: an earlier server has followed it. What that
 * has left, also of blocks, is read.
 */
void exec_open(struct executor *x, bool adopted);

/*
 * Write down what there was no room for. Returns whether there was something to do; *ret_error: 0, or a negative errno,
 * and then it is to be tried again.
 */
bool exec_log_catch_up(struct executor *x, int *ret_error);

/* The session is over: what has not ended will not, and all watchers lose it. */
void exec_close(struct executor *x);

/* The history has been consumed up to offset. Returns the place in the log of events that is no longer needed. */
uint64_t exec_follow(struct executor *x, uint64_t offset);

/* The shell has ended, and all of its output has been followed. */
void exec_shell_ended(struct executor *x);

/*
 * Type what somebody else types: now, or once the command that is being typed has begun. Returns 0, -ENOBUFS, or
 * -ENOTCONN once the session has ended.
 */
int exec_write(struct executor *x, const void *bytes, size_t length);

/* Nothing that is typed is in a paste any more. */
void exec_forget_paste(struct executor *x);

/* Whether something that the holder has put into the ring has not been followed. */
bool exec_is_behind(const struct executor *x);

/* Bytes of input that wait for a program to read them, or to be written. */
size_t exec_input_waiting(const struct executor *x);

/* The screen has come to a mark of OSC 133. */
void exec_screen_mark(struct executor *x, const struct screen_event *mark);

/* The terminal for standard error that was asked for; NULL: there is none. */
void exec_error_terminal(struct executor *x, const char *path);

/* Look at queues and deadlines; called every EXEC_TICK_MS while there are any. */
void exec_tick(struct executor *x);

/* What blocks are to know of the exec of an id; user: the executor. See struct blocks. */
bool exec_find_facts(void *user, const char *id, struct block_exec *ret_exec);
