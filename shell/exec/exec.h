/*
 * Commands for programs in the shell of a session, the one that people look at: one at a time, typed by a
 * private key (shell/exec/integration.h), followed by marks and records (shell/output/outline.h), with the true status and
 * the exact range of the output in the ring. What cannot be told is said.
 *
 * States: queued -> starting (typed, the shell has not taken it yet) -> running -> done. A done one is kept, up
 * to EXECS_KEPT of a session, so that its result can be fetched later, also from the next server.
 *
 * One that was asked for is written down before anybody hears of it, so every server after this one knows it. What
 * was queued when a server ended is not typed by the next: whoever asked may be gone, and it may be hours later. It
 * is "not started", and who asks again with its key gets another try.
 */
#pragma once

#include "ring/holds.h"
#include "shell/claim.h"
#include "shell/exec/integration.h"
#include "shell/exec/seal.h"
#include "shell/output/excerpt.h"
#include "shell/output/outline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXEC_COMMAND_MAX ((size_t)1 << 20)
#define EXEC_KEY_MAX 128u
#define EXEC_PATH_MAX 4200u
#define EXEC_AUTHOR_MAX 128u
#define EXEC_PEER_MAX 63u
#define EXEC_COMMAND_KEPT ((size_t)4 << 10)   /* bytes of a command that is done */
#define EXECS_KEPT 256u                       /* done ones of a session */
#define EXECS_QUEUED_MAX 64u                  /* of a session */
#define EXEC_OUTPUT_DEFAULT ((size_t)1 << 20) /* bytes kept of each stream */
#define EXEC_OUTPUT_MAX ((size_t)64 << 20)
#define EXEC_OUTPUT_BUDGET ((size_t)256 << 20) /* of all that run */
#define EXEC_GRACE_MS 2000u                    /* between the steps of the ladder */

enum exec_state { EXEC_QUEUED, EXEC_STARTING, EXEC_RUNNING, EXEC_DONE };

/* "queued", "starting", "running", "done". */
const char *exec_state_name(enum exec_state state);

/* What has told that a command is over. */
enum exec_end {
	EXEC_END_COMMAND, /* its own record: everything is exact */
	EXEC_END_PROMPT,  /* the shell was at its prompt again: interrupted, or `return` */
	EXEC_END_SHELL,   /* the shell has ended */
	EXEC_END_NOT_STARTED, /* nothing was run: it was never typed, or the shell provably has not taken it */
	EXEC_END_BUSY,      /* it was not its turn in time: nothing was run */
	EXEC_END_CANCELLED, /* while it was queued: nothing was run */
	EXEC_END_LOST,      /* the session is no more */
	EXEC_END_UNKNOWN,   /* it may have run, or not, or in part */
};

const char *exec_end_name(enum exec_end end);

enum exec_stream { EXEC_OUTPUT, EXEC_ERROR, EXEC_STREAMS };

/* Whether a command goes into the shell's history, as what people type does. */
enum exec_history { EXEC_HISTORY_DEFAULT, EXEC_HISTORY_NO, EXEC_HISTORY_YES };

/* Strings are borrowed for the call. */
struct exec_options {
	const char *command; /* without NUL */
	size_t length;
	const char *key; /* idempotency: another one with this key is the same exec; NULL: none */
	const char *author, *label; /* who asks, shell/name.h; label: NULL for none */
	const char *peer;           /* and from where */
	uint64_t caller; /* who of them is to be told how it has ended, if it is left running; 0: nobody */
	const char *cwd; /* absolute and existing, or NULL */
	const char *const *env_names, *const *env_values;
	size_t env_count;
	bool no_input;     /* standard input is /dev/null */
	const char *inlet; /* or the id of what is written meanwhile, see shell/output/inlet.h */
	const void *input; /* or these bytes, or NULL: the terminal */
	size_t input_length;
	enum exec_streams streams;
	bool isolated;
	enum exec_history history;
	const char *lease;   /* id of the lease that he shows who asks, or NULL */
	bool queue;          /* wait for its turn; otherwise it has to be free now */
	uint64_t queue_ms;   /* wait no longer; 0: as long as it takes */
	uint64_t timeout_ms; /* of running; 0: none */
	size_t output_max;   /* bytes kept of each stream; 0: the default */
	bool hold;           /* somebody will read all of it as it comes: see exec_hold() */
	struct claim *claim; /* its place in the queue; taken when exec_start() returns 0; NULL: nobody's */
};

struct exec;
struct executor;

#define EXEC_PAGE_MS (UINT64_C(10) * 60 * 1000) /* between two requests of who reads page by page */
#define EXEC_READER_SIZE 320u

/* Who reads output page by page: what comes next is held for them until they ask for it. */
struct exec_pager {
	char reader[EXEC_READER_SIZE];
	struct hold hold;
	uint64_t lost; /* bytes of which they have been told that they are gone */
};

/* Someone who follows an exec; the memory is the follower's. No callback may take another watcher away. */
struct exec_watcher {
	struct exec_watcher *prev, *next;
	void (*changed)(void *user, struct exec *e); /* its state, or there is more output */
	void (*gone)(void *user); /* it is forgotten; the watcher has been taken away */
	void *user;
};

struct exec {
	struct exec *prev, *next;
	struct executor *executor;
	struct claim *claims; /* list, while it is queued: of all who have asked for it */
	char id[RECORD_ID_MAX + 1];
	char *names; /* the memory of these four, of which each may be "" */
	const char *key, *author, *label, *peer; /* who asks, and from where */
	uint64_t caller;                         /* see struct exec_options */
	char *command;                   /* ends with a NUL; the beginning once it is done */
	size_t length;                   /* of all of it */
	struct integration_command plan; /* owned, until it has been typed */
	enum exec_state state;
	enum exec_end end;
	char *input;    /* path of its standard input until it is over, NULL = the terminal */
	bool has_input; /* it is a file of ours */
	uint64_t input_due_ms; /* loop time of the next look for who waits for a writer that is gone; 0: none */
	bool adopted;         /* it was started by an earlier server */
	bool patient;         /* it is to wait for its turn, whatever is in the way */
	bool left;            /* and not over then; its caller has not been told of yet */
	bool unsure;          /* that nothing tells of its start says nothing */
	uint64_t number;      /* of the session's, in the order in which they are typed */
	uint64_t events_lost; /* of the outline, when it was typed */

	uint64_t submitted_ms, started_ms, ended_ms;                /* wall clock; 0: not yet */
	uint64_t started_boot_ms;                                   /* the same, since boot */
	uint64_t queue_until_ms, timeout_ms, deadline_ms, typed_ms; /* loop time, 0: none */
	uint64_t overdue_ms; /* when it was first seen that its time is over */
	uint64_t doubted_ms; /* and since when the shell is asked whether it has taken it */
	uint64_t typed_offset, typed_position; /* when it was typed */
	bool start_marked, end_marked;         /* the marks were found: start, end are exact */
	uint64_t start, end_offset;            /* range of the output in the ring */
	uint64_t record_due_ms; /* loop time up to which its record is waited for; 0: no prompt yet */
	uint64_t over_offset;   /* where it was known to be over */
	int status;             /* 0 to 255; -1: not known */
	uint8_t statuses[RECORD_STATUSES_MAX];
	size_t statuses_count;
	char *cwd; /* afterwards; NULL: not known */
	bool interleaved, timed_out, unkillable;
	enum record_outlet outlet;
	struct seal seal;        /* by which its shell proves that it is over; none: it cannot */
	size_t header_length;    /* of the line in front of its script; 0: not known */
	bool suspect;            /* somebody else has told of it, or what tells of it disagrees */
	uint64_t claimed_ms;     /* loop time of the last claim that it is over; 0: none */
	uint64_t claimed_offset; /* and what it says */
	int claimed_status;
	uint64_t lost;  /* bytes of output that were gone before they could be read */
	int signals[8]; /* what cancelling has sent */
	size_t signals_count;
	bool interrupted;   /* an INT, or another signal to end it, has been typed or sent */
	bool cancel_due;    /* it is to be cancelled as soon as it runs, */
	int cancel_signal;  /* with this signal first; 0: with the first of the ladder */
	uint64_t ladder_ms; /* loop time of its next step; 0: it is not being cancelled */
	unsigned ladder_step, grace_ms;
	pid_t ladder_group;      /* to whom its last signal went, */
	uint64_t ladder_program; /* and what that was running */
	unsigned ladder_repeats;
	uint64_t ladder_front_ms; /* loop time since when the shell is in front; 0: it is not */
	uint64_t typed_until_ms; /* loop time up to which a Ctrl-C that was typed is looked after */
	pid_t typed_group;       /* to whom it went; 0: to one that may have lost it */

	bool hold_asked;          /* readers of all of it are expected */
	struct hold hold;         /* for the one who is to come */
	struct exec_pager *pager; /* owned; NULL: nobody reads it page by page */

	size_t output_max;
	bool collecting; /* the excerpts have all since the start */
	bool collected;  /* they have been sorted */
	struct excerpt output[EXEC_STREAMS];
	struct exec_watcher *watchers;
};

/* Why its output, now that it is over, is not known to be exactly what it has printed: a stable code, or NULL: it is. */
const char *exec_inexact(const struct exec *e);

/* Whether it has ended its shell, and the session goes on with another. */
bool exec_outlived(const struct exec *e);

/*
 * Ask for a command. *ret_exec is the session's; w (may be NULL) follows it, possibly at once.
 * Returns 0, or a negative errno, and nothing is run: -EBUSY (see exec_busy()), -ENOTSUP (this session's shell
 * cannot), -ENOTCONN (it has ended), -EACCES (see typing_admits()), -EUSERS (too many wait), -EALREADY (the key belongs to another command),
 * -ENOSPC or others (the input could not be stored).
 */
int exec_start(struct executor *x, const struct exec_options *options, struct exec_watcher *w,
	struct exec **ret_exec);

/* Tell of every one that is known: what is done, what runs, what waits, each in the order in which they were asked for. */
void exec_each(const struct executor *x, void (*tell)(void *user, const struct exec *e), void *user);

/*
 * Tell of those that were not over when an earlier server ended, and have a caller who is to hear how they end: each is told
 * of once. executors.left counts those that are to be told of.
 */
void exec_each_left(struct executor *x, void (*tell)(void *user, const struct exec *e), void *user);

/* The exec of an id or of a key; NULL if there is none (any more). */
struct exec *exec_find(struct executor *x, const char *id);
struct exec *exec_find_key(struct executor *x, const char *key);

void exec_watch(struct exec *e, struct exec_watcher *w);
void exec_unwatch(struct exec *e, struct exec_watcher *w);

/*
 * Begin the ladder: signal first (0: INT), then QUIT, TERM and KILL to the foreground process group, each after a
 * grace, and never anything but INT when that is the shell's own. A queued one is taken out of the queue.
 */
void exec_cancel(struct exec *e, int first_signal, unsigned grace_ms);

/* Why a session's shell will take no command any more: a text for people, or NULL. */
const char *exec_unable(struct executor *x);

/* What one that is queued waits for, or has waited for: a text for people. */
const char *exec_waits_for(const struct exec *e);

/* Why a session's shell cannot take a command now: a text for people, or NULL when it can. */
const char *exec_busy(struct executor *x);

/* Wait status of the session's shell as 0 to 255, as bash gives it: 128 + n for a signal. */
int exec_status_of(int wait_status);

/* An output of one that is done, as far as it was kept; NULL: it has to be read from the ring. */
const struct excerpt_parts *exec_output(
	struct exec *e, enum exec_stream stream, struct excerpt_parts *ret_parts);

/*
 * Read what the ring still has of the output since it was typed, up to now or to its end, into excerpts of limit bytes
 * (to be finished by the caller). Returns the bytes that it does not have any more.
 */
uint64_t exec_reread(struct exec *e, size_t limit, struct excerpt output[EXEC_STREAMS]);

/*
 * A reader of its own for an output that is still growing, from a place, or from its beginning (NULL); to be read up to
 * exec_readable(), while exec_has_ring(). exec_keeps() says which pieces of the outline's text belong to it.
 */
void exec_outline(
	const struct exec *e, const struct outline_place *from, struct outline *ret_outline);
uint64_t exec_readable(const struct exec *e);
bool exec_has_ring(const struct exec *e);

/*
 * Hold the ring for a reader of the whole output, from where o is; what e has held for it becomes h. exec_hold_moved()
 * says that it has read on; exec_unhold() that it reads no more, or (comes_again) that another one may go on.
 * exec_hold_ask(): one will come before it has been typed.
 */
void exec_hold_ask(struct exec *e);
void exec_hold(struct exec *e, struct hold *h, const struct outline *o);
void exec_hold_moved(struct exec *e, struct hold *h, const struct outline_place *at);
void exec_unhold(struct exec *e, struct hold *h, bool comes_again);

/*
 * The place up to which those who wait for e are told its output: what they have not got lies behind it. A sequence
 * that has come in part does.
 */
uint64_t exec_told(const struct exec *e);

/*
 * `reader` has got the output up to offset, and will ask for what follows: it is held for EXEC_PAGE_MS, over all their
 * requests with the patience of one hold; until all of an output that is over has been read. One at a time: it is
 * nothing where it is held for another. exec_page_wait(): they read without a cursor now, and want nothing held for that
 * while. exec_page_lost(): they are told that bytes are gone, and go on at offset; returns all that they have
 * been told of, with 0 bytes likewise.
 */
void exec_page(struct exec *e, const char *reader, uint64_t offset);
void exec_page_wait(struct exec *e, const char *reader);
uint64_t exec_page_lost(struct exec *e, const char *reader, uint64_t bytes, uint64_t offset);

/* Those whose names begin so are gone. */
void exec_page_leave(struct executor *x, const char *readers);

/*
 * Whether a piece of text is of e's output: moves *bytes and *length to the part that is. Returns the stream, or
 * EXEC_STREAMS when nothing of it is.
 */
enum exec_stream exec_keeps(const struct exec *e, enum event_source source, uint64_t offset,
	const void **bytes, size_t *length);

/* Which of its streams a piece of the outline belongs to; EXEC_STREAMS: none. */
enum exec_stream exec_stream_of(enum exec_streams streams, enum event_source source);
