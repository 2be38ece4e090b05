/*
 * A process: one command with a life of its own, in a holder of its own, so that it survives the server with
 * everything that it has written. See shell/process/processes.h for the table that starts, finds and forgets them,
 * and pty/supervise.h for how it runs.
 *
 * States: starting -> running -> ended; removing from any of them, then it is gone. Ended is when the
 * command itself has ended: whoever it has left behind lives on and may write, until it is killed. When nobody
 * of them is left its output moves to a file, and its holder ends.
 */
#pragma once

#include "ring/labels.h"
#include "shell/name.h"
#include "shell/held/held.h"
#include "shell/output/streams.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define PROCESS_COMMAND_MAX ((size_t)1 << 20)    /* bytes */
#define PROCESS_COMMAND_SHOWN ((size_t)16 << 10) /* of it are kept to be shown */
#define PROCESS_PREAMBLE_MAX ((size_t)4 << 20)
#define PROCESS_INPUT_MAX ((size_t)4 << 20) /* bytes of input that wait */
#define PROCESS_TIMEOUT_CODE 124

enum process_state { PROCESS_STARTING, PROCESS_RUNNING, PROCESS_ENDED, PROCESS_REMOVING };

struct process;
struct processes;

/* Someone who follows a process; the memory is the follower's. */
struct process_viewer {
	struct process_viewer *prev, *next;
	void (*more)(
		void *user); /* output, state or room for input; may detach itself, but no other */
	void (*gone)(void *user); /* the process is forgotten; the viewer has been detached */
	void *user;
};

/* Someone who waits for a process to run, or for the end of all that belongs to it. */
struct process_waiter {
	struct held_waiter held; /* the table's */
	/*
	 * error: 0, or a negative errno and what failed. For a start: then the process is about to go. For
	 * a kill: -EBUSY, process->held.survivors could not be ended; -ECANCELED, the server ends.
	 */
	void (*done)(void *user, struct process *process, enum report_stage stage, int error);
	void *user;
};

/* What is written to the standard input and has not been taken yet. */
struct process_input {
	int fd; /* of the FIFO, -1 until something is written */
	uv_poll_t poll;
	bool poll_open, polling;
	struct outbox outbox;
	bool ending; /* its end was asked for */
};

struct process {
	struct processes *table;
	struct held held;
	char session[NAME_ID_MAX + 1]; /* that it was started from, or "" */
	char *command;                 /* what is shown of it */
	bool command_cut;              /* it is longer */
	char *cwd;
	uint64_t created_ms, ended_ms; /* wall clock */
	uint64_t created_boot_ms;      /* since boot */
	uint64_t timeout_ms;           /* 0 = none */
	enum process_state state;
	bool end_asked; /* the holder has been told to end */
	bool kept;      /* its output is in a file, see keep.c */
	bool let_go;    /* there is no holder any more, and no link to it */
	bool gone;      /* nobody of the tree lives any more */
	bool timed_out, kill_asked;
	bool overdue; /* its time is over, and what may tell of its end is being read */
	bool input_pipe, input_closed;
	int error;           /* why the status is not known; 0 = it is */
	int wait_status;     /* wait(2) status, once ended */
	pid_t pid;           /* of the command, 0 until it runs */
	uint64_t end_offset; /* what the command itself wrote ends here, once ended */
	bool ring_open;
	struct labels labels;
	struct output_file *file; /* being written; once kept: being read, or NULL */
	uint64_t keep_at_ms;      /* loop time: not before is it tried again to write it */
	uint64_t oldest;          /* of what is kept */
	uint64_t head;            /* of the ring: labels are known up to here */
	uint64_t tail;            /* the holder has been told that this much is consumed */
	uint64_t events_offset;   /* of the event log, read so far */
	bool hold_asked;
	struct hold hold; /* of its output, for the reader who is to come */
	struct process_viewer *viewers;
	struct held_waiter *killers; /* who waits for the end of the tree */
	uv_timer_t timer;            /* the time limit, or the next step of a kill */
	bool killing;
	uint64_t kill_at_ms, give_up_at_ms; /* loop time */
	struct process_input input;
	unsigned open_handles; /* that closing waits for; the link is one */
};

/* "starting", "running", "completed", "failed", "killed" or "error". */
const char *process_status(const struct process *p);

/* Whether it has ended and how is known: then the exit code, 0 to 255; 128 + n for signal n. */
bool process_exit_code(const struct process *p, int *ret_code);

/* Where the output that is still there begins. */
uint64_t process_oldest(const struct process *p);

/* Where what the command itself has written ends, as far as is known. */
uint64_t process_command_end(const struct process *p);

/*
 * Before its output is read: have it at hand, until nobody follows it any more. Returns 0, or a negative errno
 * when it is there but cannot be read now.
 */
int process_open_output(struct process *p);

/* It has been read; whoever follows it may go on. */
void process_close_output(struct process *p);

/* What there is to be read of these sources, up to end. */
struct streams_range process_range(const struct process *p, uint64_t end, unsigned sources);

/* Follow and stop following (harmless when v is not attached). */
void process_attach(struct process *p, struct process_viewer *v);
void process_detach(struct process *p, struct process_viewer *v);

/*
 * Hold the output for a reader who is at cursor (ring/holds.h), and what has been kept for them. Returns the place in
 * the log of events that is held; the caller moves h as it reads, and gives it back.
 */
uint64_t process_hold(struct process *p, struct hold *h, uint64_t cursor);

/* What lies before cursor has been read. *position: the place in the log of events, moved along. */
void process_hold_moved(struct process *p, struct hold *h, uint64_t cursor, uint64_t *position);

/* Nothing is held for it any more; fine for one that holds nothing. */
void process_unhold(struct process *p, struct hold *h);

/*
 * End the whole tree: TERM, after grace_ms KILL until nobody is left. waiter (may be NULL) hears when that
 * is so, possibly before this returns; the process stays in the table with its output.
 */
void process_kill(struct process *p, unsigned grace_ms, struct process_waiter *waiter);

/*
 * Signal the command, or it and everybody that it has started. Returns 0, -ESRCH when there is nobody, or
 * another negative errno.
 */
int process_signal(struct process *p, int signo, bool tree);

/* How many live that belong to it, the command among them. A negative errno when that cannot be told. */
int process_members(const struct process *p);

/*
 * Write to the standard input; what the command does not take now waits here, in order. Returns 0,
 * -ENOBUFS when too much would wait (then nothing is taken), -ENODEV when it has no such input, -EPIPE
 * when that has been closed by either side.
 */
int process_write(struct process *p, const void *bytes, size_t length);

/* Bytes that wait. Viewers are told when there are none any more. */
size_t process_input_queued(const struct process *p);

/* Close the standard input once what waits has been written. Returns 0, -ENODEV or -EPIPE. */
int process_end_input(struct process *p);
