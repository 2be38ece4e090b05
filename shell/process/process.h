/*
 * A process: one command with a life of its own, in a holder of its own, so that it and its output
 * survive the server. See shell/process/processes.h for the table of processes, and pty/supervise.h
 * for how one runs.
 *
 * States: starting -> running -> ended; removing follows any of them, then the process is freed.
 * "Ended" means that the command itself has exited. Processes that it has left behind live on and
 * may write, until they are killed. When none is left, the output moves to a file and the holder
 * ends.
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
#define PROCESS_COMMAND_SHOWN ((size_t)16 << 10) /* bytes of it that are kept */
#define PROCESS_PREAMBLE_MAX ((size_t)4 << 20)
#define PROCESS_INPUT_MAX ((size_t)4 << 20) /* bytes of queued input */
#define PROCESS_TIMEOUT_CODE 124

/* See the head of this file. The moves are in process.c. */
enum process_state {
	PROCESS_STARTING,
	PROCESS_RUNNING,
	PROCESS_ENDED,
	PROCESS_REMOVING,
	PROCESS_STATES
};

/* The tree: the command, and what it has started. The moves are in kill.c. */
enum process_tree {
	PROCESS_TREE_LIVES,   /* as far as is known, also after a kill that was given up */
	PROCESS_TREE_OVERDUE, /* the time limit has passed; unread events are being read first */
	PROCESS_TREE_KILLING, /* a kill is in progress */
	PROCESS_TREE_GONE,    /* none of its processes lives any more */
	PROCESS_TREE_STATES
};

/* Where the output is. */
enum process_output {
	PROCESS_OUTPUT_NONE, /* nowhere: not attached to the holder yet, or removed */
	PROCESS_OUTPUT_RING, /* in the holder's ring */
	PROCESS_OUTPUT_FILE, /* in a file, where it stays */
};

/* State of the standard input. The moves are in input.c. */
enum process_input_state {
	PROCESS_INPUT_NONE,   /* the command has none */
	PROCESS_INPUT_OPEN,   /* a pipe that can be written to */
	PROCESS_INPUT_ENDING, /* it will be closed once the outbox is empty */
	PROCESS_INPUT_CLOSED, /* the server or the command has closed it */
	PROCESS_INPUT_STATES
};

struct process;
struct processes;

/* Follows a process. The memory is the caller's. */
struct process_viewer {
	struct process_viewer *prev, *next;
	/* Output, a new state, or space for input. May detach itself, but no other viewer. */
	void (*more)(void *user);
	void (*gone)(void *user); /* the process is being freed; the viewer is already detached */
	void *user;
};

/* Waits until a process runs, or until its tree is killed. The memory is the caller's. */
struct process_waiter {
	struct held_waiter held; /* private */
	/*
	 * error: 0, or a negative errno, with the stage that failed. After a failed start the
	 * process is removed. Of a kill: -EBUSY if process->held.survivors processes could not be
	 * killed, -ECANCELED if the server ends, or another one if the tree could not be read.
	 */
	void (*done)(void *user, struct process *process, enum report_stage stage, int error);
	void *user;
};

/* The standard input, and what the command has not read of it. */
struct process_input {
	enum process_input_state state;
	int fd;         /* of the FIFO, -1 until something is written, and once it is closed */
	uv_poll_t poll; /* of fd; active while the outbox is not empty */
	struct outbox outbox;
};

/* One process. */
struct process {
	struct processes *table;
	struct held held;
	char session[NAME_ID_MAX + 1]; /* id of the session that it was started from, or "" */
	char *command;                 /* the kept beginning */
	bool command_cut;              /* the command is longer */
	char *cwd;
	uint64_t created_ms, ended_ms; /* wall clock */
	uint64_t created_boot_ms;      /* since boot */
	int64_t ended_boot_ms;         /* since boot; negative: before it */
	uint64_t timeout_ms;           /* 0 = none */
	enum process_state state;
	enum process_tree tree;
	enum process_output output;
	bool end_asked;             /* the holder has been asked to end */
	bool timed_out, kill_asked; /* reasons to kill the tree while the command ran */
	int error;                  /* why the status is not known; 0: it is known */
	int wait_status;            /* wait(2) status, once ended */
	pid_t pid;                  /* of the command, 0 until it runs */
	uint64_t end_offset;        /* end of the command's own output, once ended */
	struct labels labels;
	struct output_file *file; /* being written; of PROCESS_OUTPUT_FILE: being read, or NULL */
	uint64_t move_at_ms;      /* loop time of the next try to write it */
	uint64_t oldest;          /* offset at which the file begins */
	uint64_t head;            /* of the ring: labels are known up to here */
	uint64_t tail;            /* reported to the holder as consumed */
	uint64_t events_offset;   /* position up to which the event log has been read */
	bool hold_expected;
	struct hold hold; /* of its output, until the expected reader comes */
	struct process_viewer *viewers;
	struct held_waiter *kill_waiters;   /* waiters of kills */
	uv_timer_t timer;                   /* the time limit, or the next step of a kill */
	uint64_t kill_at_ms, give_up_at_ms; /* loop time */
	struct process_input input;
	unsigned open_handles; /* to be closed before it is freed; the link is one */
};

/* "starting", "running", "completed", "failed", "killed" or "error". */
const char *process_status(const struct process *p);

/* Whether its exit code is known: 0 to 255; 128 + n for signal n; PROCESS_TIMEOUT_CODE. */
bool process_exit_code(const struct process *p, int *ret_code);

/* Whether it still has a holder, which may be ending. */
bool process_has_holder(const struct process *p);

/* Offset of the oldest output that can still be read. */
uint64_t process_oldest(const struct process *p);

/* End of the command's own output, as far as is known. */
uint64_t process_command_end(const struct process *p);

/* Open the output file, if the output is in one, before reading. Returns 0 or a negative errno. */
int process_open_output(struct process *p);

/* Close the output file, unless the process has viewers. */
void process_close_output(struct process *p);

/* The readable range of these sources, up to end. */
struct streams_range process_range(const struct process *p, uint64_t end, unsigned sources);

/* Add a viewer. */
void process_attach(struct process *p, struct process_viewer *v);

/* Remove a viewer; harmless when v is not attached. */
void process_detach(struct process *p, struct process_viewer *v);

/*
 * Hold the output for a reader at cursor (ring/holds.h). What the process has held for it goes over
 * to h. Returns the held position in the event log. The caller moves h as it reads, and releases
 * it.
 */
uint64_t process_hold(struct process *p, struct hold *h, uint64_t cursor);

/* The reader has read up to cursor. Moves *position, its position in the event log, along. */
void process_hold_moved(struct process *p, struct hold *h, uint64_t cursor, uint64_t *position);

/* Release h; harmless when it holds nothing. */
void process_unhold(struct process *p, struct hold *h);

/*
 * Kill the whole tree: TERM, after grace_ms KILL until none is left. Then waiter (may be NULL) is
 * called, possibly before this returns. The process stays in the table with its output.
 */
void process_kill(struct process *p, unsigned grace_ms, struct process_waiter *waiter);

/* Signal the command, or its whole tree. Returns 0, -ESRCH if none lives, or another error. */
int process_signal(struct process *p, int signo, bool tree);

/* The number of living processes of its tree, the command included, or a negative errno. */
int process_count_members(const struct process *p);

/*
 * Write to the standard input; what the FIFO has no space for is queued. Returns 0, -ENOBUFS if the
 * queue would be too long (then nothing is written), -ERR_NO_INPUT without a standard input, -EPIPE if
 * either side has closed it.
 */
int process_write(struct process *p, const void *bytes, size_t length);

/* Bytes queued for the standard input. Viewers are called when all are written. */
size_t process_input_queued(const struct process *p);

/* Close the standard input once the queue has been written. Returns 0, -ERR_NO_INPUT or -EPIPE. */
int process_end_input(struct process *p);
