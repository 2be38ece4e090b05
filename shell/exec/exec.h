/*
 * An exec: one command that the API runs in the session's own shell. A session runs one exec at a
 * time. The server types a private key sequence (shell/exec/integration.h), follows the shell's
 * marks and records (shell/output/outline.h), and reports the true status and the exact range of
 * the output in the ring. A result that is not known is reported as unknown.
 *
 * A session keeps up to EXECS_KEPT done execs, so that their results can be fetched later, also from
 * the next server.
 *
 * An exec is on disk before its client gets an answer, so every later server finds it. A server
 * does not type what was queued under an earlier one: the client may be gone, and hours may have
 * passed. Such an exec is "not started", and another request with its key runs it.
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
#define EXEC_COMMAND_KEPT ((size_t)4 << 10)   /* bytes of the command that a done exec keeps */
#define EXECS_KEPT 256u                       /* done execs of a session */
#define EXECS_QUEUED_MAX 64u                  /* queued execs of a session */
#define EXEC_OUTPUT_DEFAULT ((size_t)1 << 20) /* bytes kept of each stream */
#define EXEC_OUTPUT_MAX ((size_t)64 << 20)
#define EXEC_OUTPUT_BUDGET ((size_t)256 << 20) /* bytes kept for all running execs */
#define EXEC_GRACE_MS 2000u                    /* between two signals of exec_cancel() */

/* The life of an exec, see exec_move(). */
enum exec_state {
	EXEC_QUEUED,   /* not typed yet */
	EXEC_STARTING, /* typed; the shell has not reported its start */
	EXEC_RUNNING,  /* the shell has reported its start */
	EXEC_DONE,     /* over, or known not to run: see enum exec_end */
};

/* "queued", "starting", "running", "done". */
const char *exec_state_name(enum exec_state state);

/* How far exec_cancel() has got. */
enum exec_cancelling {
	EXEC_CANCEL_NONE,    /* not called */
	EXEC_CANCEL_DUE,     /* waits for the command to start */
	EXEC_CANCEL_SENDING, /* a signal was sent, the next one follows at cancel_next_ms */
	EXEC_CANCEL_FAILED,  /* all signals were sent, and the command has not ended by them */
};

/* How the server learned that a command is over. */
enum exec_end {
	EXEC_END_COMMAND,     /* its end record: everything is exact */
	EXEC_END_PROMPT,      /* the shell showed its prompt again: interrupted, or `return` */
	EXEC_END_SHELL,       /* the shell has exited */
	EXEC_END_NOT_STARTED, /* nothing was run: not typed, or provably not run */
	EXEC_END_BUSY,        /* its queue time ran out: nothing was run */
	EXEC_END_CANCELLED,   /* cancelled while queued: nothing was run */
	EXEC_END_LOST,        /* the session was deleted */
	EXEC_END_UNKNOWN,     /* it may have run, or not, or in part */
};

/* "command", "prompt", "shell" ...; the API's words. */
const char *exec_end_name(enum exec_end end);

/* The output streams of an exec. EXEC_STREAMS: their number, or "none of them". */
enum exec_stream { EXEC_OUTPUT, EXEC_ERROR, EXEC_STREAMS };

/* Whether a command goes into the shell's history. */
enum exec_history { EXEC_HISTORY_DEFAULT, EXEC_HISTORY_NO, EXEC_HISTORY_YES };

/* A request for an exec. Strings are borrowed for the call. */
struct exec_options {
	const char *command; /* without NUL */
	size_t length;
	const char *key; /* idempotency: requests with one key get one exec; NULL: none */
	const char *author, *label; /* of the request, see shell/name.h; label may be NULL */
	const char *peer;           /* address of the client */
	uint64_t caller; /* client to notify of the end if the server restarts meanwhile; 0: none */
	const char *cwd; /* absolute and existing, or NULL */
	const char *const *env_names, *const *env_values;
	size_t env_count;
	bool no_input;     /* standard input is /dev/null, */
	const char *inlet; /* or the inlet of this id (shell/output/inlet.h), */
	const void *input; /* or these bytes; otherwise (NULL) the terminal */
	size_t input_length;
	enum exec_streams streams;
	bool isolated; /* run in a subshell */
	enum exec_history history;
	const char *lease;   /* id of the lease that the request presents, or NULL */
	bool queue;          /* wait in the queue; otherwise fail unless the shell is free */
	uint64_t queue_ms;   /* longest wait in the queue; 0: no limit */
	uint64_t timeout_ms; /* longest run time; 0: no limit */
	size_t output_max;   /* bytes kept of each stream; 0: the default */
	bool hold;           /* a reader of the whole output will come, see exec_hold() */
	struct claim *claim; /* a link's access, while queued; owned when exec_start() returns 0 */
};

struct exec;
struct executor;

#define EXEC_PAGE_MS (UINT64_C(10) * 60 * 1000) /* between two requests of a page reader */
#define EXEC_READER_SIZE 320u

/* Reads the output page by page. The ring is held for it between its requests. */
struct exec_pager {
	char reader[EXEC_READER_SIZE];
	struct hold hold;
	uint64_t lost; /* bytes reported to the reader as lost */
};

/* Follows an exec. The memory is the caller's. A callback may not remove another watcher. */
struct exec_watcher {
	struct exec_watcher *prev, *next;
	void (*changed)(void *user, struct exec *e); /* the state has changed or output has come */
	void (*gone)(void *user); /* the exec is freed next; the watcher is already removed */
	void *user;
};

/* One exec. */
struct exec {
	struct exec *prev, *next;
	struct executor *executor;
	struct claim *claims; /* list, while queued: the access rights of all requests for it */
	char id[RECORD_ID_MAX + 1];
	char *names; /* memory of the next four, each of which may be "" */
	const char *key, *author, *label, *peer; /* see struct exec_options */
	uint64_t caller;                         /* see struct exec_options */
	char *command;                   /* ends with a NUL; cut to EXEC_COMMAND_KEPT once done */
	size_t length;                   /* of the whole command */
	struct integration_command plan; /* owned, until it has been typed */
	enum exec_state state;
	enum exec_end end;
	char *input;           /* path of its standard input until it is over; NULL: the terminal */
	bool has_input;        /* that is a file in the session's directory */
	uint64_t input_due_ms; /* loop time of the next exec_input_tick(); 0: none */
	bool patient;          /* it queues, whatever is in the way */
	bool left;             /* adopted before its end; its caller has not been notified yet */
	bool unsure;           /* start events may be lost, so a missing one proves nothing */
	uint64_t number;       /* of the session's, in the order in which they are typed */
	uint64_t events_lost;  /* the outline's counter, when it was typed */

	uint64_t submitted_ms, started_ms, ended_ms;                /* wall clock; 0: not yet */
	uint64_t started_boot_ms;                                   /* started_ms since boot */
	uint64_t queue_until_ms, timeout_ms, deadline_ms, typed_ms; /* loop time, 0: none */
	uint64_t overdue_ms;    /* loop time when the deadline was first seen to be past */
	uint64_t sign_asked_ms; /* loop time since when the shell is asked for a sign */
	uint64_t typed_offset, typed_position; /* of the outline, when it was typed */
	bool start_marked, end_marked;         /* the marks were found: start, end are exact */
	uint64_t start, end_offset;            /* range of the output in the ring */
	uint64_t record_due_ms; /* loop time up to which its record is awaited; 0: no prompt yet */
	uint64_t over_offset;   /* ring offset at which it was known to be over */
	int status;             /* 0 to 255; -1: not known */
	uint8_t statuses[RECORD_STATUSES_MAX];
	size_t statuses_count;
	char *cwd; /* of the shell afterwards; NULL: not known */
	bool interleaved, timed_out;
	enum record_outlet outlet;
	struct seal seal;         /* proves that an end report comes from the shell */
	size_t header_length;     /* of the first line of its script; 0: not known */
	bool suspect;             /* an unsealed report has come, or two reports disagree */
	uint64_t unsealed_ms;     /* loop time of the last unsealed end report; 0: none */
	uint64_t unsealed_offset; /* the offset in it */
	int unsealed_status;      /* the status in it */
	uint64_t lost;            /* bytes of output that were gone before they could be read */
	int signals[8];           /* sent by exec_cancel() */
	size_t signals_count;
	bool interrupted; /* an INT, or another signal to kill it, has been typed or sent */
	enum exec_cancelling cancelling;
	int cancel_signal;       /* the first one to send when it starts; 0: SIGINT */
	uint64_t cancel_next_ms; /* loop time of the next signal */
	unsigned cancel_step, grace_ms;
	pid_t cancel_group;      /* process group that got the last signal */
	uint64_t cancel_program; /* hash of the program that this group ran */
	unsigned cancel_repeats; /* of SIGINT */
	uint64_t cancel_front_ms; /* loop time since when the shell is in the foreground; 0: it is not */
	uint64_t interrupt_until_ms; /* loop time up to which a typed Ctrl-C is repeated if lost */
	pid_t interrupt_group;       /* repeat it only to this group; 0: to any */

	bool hold_expected;       /* a reader of the whole output is expected */
	struct hold hold;         /* for that reader, until it comes */
	struct exec_pager *pager; /* owned; NULL: no page reader */

	size_t output_max;
	bool collecting; /* the excerpts have all output since the start */
	struct excerpt output[EXEC_STREAMS];
	struct exec_watcher *watchers;
};

/* Why the output of a done exec may be inexact: a stable code, or NULL if it is exact. */
const char *exec_inexact_reason(const struct exec *e);

/* Whether the command ended its shell, and the session goes on with a new one. */
bool exec_has_replaced_shell(const struct exec *e);

/*
 * Request an exec. *ret_exec is owned by the session; w (may be NULL) follows it, and may be called
 * from inside. Returns 0, or a negative errno and nothing is run: -EBUSY (see exec_busy_reason()),
 * -ENOTSUP (this shell cannot run it), -ERR_NOT_RUNNING (the shell has exited), -EACCES (see
 * typing_is_allowed()), -ERR_LIMIT (the queue is full), -ERR_KEY_IN_USE (the key belongs to another command),
 * -EINVAL (the command is too long or has a NUL), or what storing the input returned.
 */
int exec_start(struct executor *x, const struct exec_options *options, struct exec_watcher *w,
	struct exec **ret_exec);

/* Call visit() for every exec: done, current, queued; each in the order of requests. */
void exec_each(
	const struct executor *x, void (*visit)(void *user, const struct exec *e), void *user);

/*
 * Call visit() once for each exec that was not over when an earlier server ended and whose caller is
 * to be notified of its end. executors.unreported counts those that remain.
 */
void exec_each_unreported(
	struct executor *x, void (*visit)(void *user, const struct exec *e), void *user);

/* The exec of an id; NULL if there is none. */
struct exec *exec_find(struct executor *x, const char *id);

/* The newest exec of a key; NULL if there is none. */
struct exec *exec_find_key(struct executor *x, const char *key);

/* Add a watcher. */
void exec_watch(struct exec *e, struct exec_watcher *w);

/* Remove a watcher. */
void exec_unwatch(struct exec *e, struct exec_watcher *w);

/*
 * Cancel: send first_signal (0: INT), then QUIT, TERM and KILL to the foreground process group,
 * each grace_ms after the one before. The shell's own group gets nothing but INT. A queued exec is
 * removed from the queue.
 */
void exec_cancel(struct exec *e, int first_signal, unsigned grace_ms);

/* Why the session's shell can run no command any more: a text for people, or NULL. */
const char *exec_unable_reason(struct executor *x);

/* What a queued exec waits for, or has waited for: a text for people. */
const char *exec_wait_reason(const struct exec *e);

/* Why the session's shell cannot run a command now: a text for people, or NULL when it can. */
const char *exec_busy_reason(struct executor *x);

/* A wait(2) status as 0 to 255, as bash gives it: 128 + n for signal n. */
int exec_status_of(int wait_status);

/* The kept output of a done exec. Returns ret_parts, or NULL if it must be read from the ring. */
const struct excerpt_parts *exec_output(
	struct exec *e, enum exec_stream stream, struct excerpt_parts *ret_parts);

/*
 * Read what the ring still has of the output, up to now or to the end, into excerpts of limit bytes
 * each, which the caller finishes. Returns the number of bytes that the ring has lost.
 */
uint64_t exec_reread(struct exec *e, size_t limit, struct excerpt output[EXEC_STREAMS]);

/*
 * Init an outline that reads the output at the caller's own pace, from a place or (NULL) from the
 * beginning. Read it up to exec_readable(), only while exec_has_ring(). exec_clip_output() selects the
 * text that belongs to e.
 */
void exec_outline(
	const struct exec *e, const struct outline_place *from, struct outline *ret_outline);

/* The ring offset up to which the output can be read now. */
uint64_t exec_readable(const struct exec *e);

/* Whether the ring is still mapped. */
bool exec_has_ring(const struct exec *e);

/* Expect a reader of the whole output: hold the ring for it from the start of the command. */
void exec_hold_expect(struct exec *e);

/* Hold the ring for a reader that is at o. What e has held for it goes over to h. */
void exec_hold(struct exec *e, struct hold *h, const struct outline *o);

/* The reader has read up to at. */
void exec_hold_moved(struct exec *e, struct hold *h, const struct outline_place *at);

/* The reader has gone. comes_again: hold the rest for the next one, if one is expected. */
void exec_unhold(struct exec *e, struct hold *h, bool comes_again);

/* The ring offset up to which watchers have got output; an incomplete sequence lies behind it. */
uint64_t exec_delivered(const struct exec *e);

/*
 * `reader` has the output up to offset and will ask for more: hold the ring for it for
 * EXEC_PAGE_MS. All its requests share the patience of one hold. Does nothing while the ring is
 * held for another page reader. The hold ends when all output of a done exec has been read.
 */
void exec_hold_page(struct exec *e, const char *reader, uint64_t offset);

/* The page reader now reads without a cursor: hold nothing for it meanwhile. */
void exec_hold_page_pause(struct exec *e, const char *reader);

/*
 * The page reader is told that bytes were lost, and goes on at offset. Returns the sum of all bytes
 * reported to it as lost; bytes may be 0.
 */
uint64_t exec_hold_page_lost(struct exec *e, const char *reader, uint64_t bytes, uint64_t offset);

/* Hold nothing any more for the page readers whose names begin with readers. */
void exec_hold_page_end(struct executor *x, const char *readers);

/*
 * Cut a piece of the outline's text to the part that is e's output: moves *bytes and *length.
 * Returns its stream, or EXEC_STREAMS when no part of it is.
 */
enum exec_stream exec_clip_output(const struct exec *e, enum event_source source, uint64_t offset,
	const void **bytes, size_t *length);

/* The stream that output from source belongs to; EXEC_STREAMS: none. */
enum exec_stream exec_stream_of(enum exec_streams streams, enum event_source source);
