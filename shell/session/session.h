/*
 * A session: one shell on one PTY in a holder of its own, its history, and who is attached.
 *
 * States: starting -> running -> exited; ending from any of them, then it is gone. A session belongs to
 * the table in shell/session/sessions.h, which creates, finds and ends it.
 *
 * It keeps six descriptors in the server: its directory, the holder's socket, the eventfds by which that wakes us and we
 * wake it, the PTY (input), and the script of its bash (shell/exec/exec.h). What is mapped needs none.
 */
#pragma once

#include "ring/patience.h"
#include "shell/block/blocks.h"
#include "shell/exec/executor.h"
#include "shell/name.h"
#include "shell/pane/pane.h"
#include "shell/store/directory.h"
#include "shell/session/presence.h"
#include "shell/session/shell_exit.h"
#include "shell/input/typing.h"
#include "shell/wait/waits.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* A turn, then others have theirs: bytes consumed, with a little less than a frame takes, and time. */
#define SESSION_TURN ((size_t)60 << 10)
#define SESSION_TURN_NS 200000u

/* A viewer that has taken nothing for so long does not read: the program does not wait for it. */
#define SESSION_VIEWER_READS_MS 50u

/* Bytes of answers to programs since all that is typed had been read; and to the shell, within a time. */
#define SESSION_REPLIES_MAX 8192u
#define SESSION_REPLIES_SHELL_MAX 1024u
#define SESSION_REPLIES_MS 1000u

#define SESSION_ARGV_MAX 256u                 /* a program and its arguments */
#define SESSION_ARGV_BYTES ((size_t)16 << 10) /* all of them, with their NULs */

struct pane_state;
struct wait_options;
struct wait_waiter;

enum session_life { SESSION_STARTING, SESSION_RUNNING, SESSION_EXITED, SESSION_ENDING };

struct session;

/* "starting", "running", "unresponsive", "exited" or "ending". */
const char *session_state_name(const struct session *s);

/* How a session ended. */
enum session_end {
	SESSION_END_EXITED,
	SESSION_END_SIGNAL,
	SESSION_END_HOLDER_DIED,
};

/* Whether its shell's status is known then. */
static inline bool session_end_is_known(enum session_end end)
{
	return end == SESSION_END_EXITED || end == SESSION_END_SIGNAL;
}

/* Someone who follows a session; the memory is the follower's. No callback may detach another viewer. */
/* A prompt for what is not shown, as long as it waits: what was printed, who reads, and that nobody has answered. */
struct session_prompt {
	uint64_t offset, answers;
	pid_t group;
};

struct session_viewer {
	struct session_viewer *prev, *next;
	void (*more)(void *user);    /* the history has more, or the session has ended */
	void (*changed)(void *user); /* presence, name, or whose window is the size */
	void (*gone)(void *user,
		bool deleted); /* the session is no more; the viewer has been detached */
	void *user;
	struct attendee attendee; /* to be filled in (name, role, window) before attaching */
	/* Kept by itself: where it is in the output, and when it had last taken all that it was given; 0: it needs none. */
	uint64_t offset, taken_ms; /* loop time */
	bool waits; /* output that it has not taken is held back, however long that takes: the session has no other viewer */
	uint64_t key; /* of the client in ring/receipts.h; 0: it wants none */
	uint64_t typed; /* bytes that it has typed, and those that were refused, on all its connections */
};

/* What can be chosen when a session is created. Strings are borrowed; NULL or 0 = the default. */
struct session_options {
	const char *id;               /* checked by the table */
	const char *name;             /* default: the id */
	const char *cwd;              /* absolute; default: where the server was started */
	struct directory_found found; /* of cwd */
	const char *shell;            /* path or name; default: bash */
	const char *const *shell_arguments; /* of the shell, and NULL; NULL: none. As many as SESSION_ARGV_… allow. */
	/* A program instead of a shell, and its arguments, and NULL; NULL: a shell. As many as SESSION_ARGV_… allow. */
	const char *const *argv;
	unsigned rows, cols;         /* default 24 x 80 */
	enum screen_unicode unicode; /* what its characters take */
	uint64_t idle_timeout_ms; /* end it when nobody is attached and nothing happens for this long */
	enum shell_exit on_shell_exit; /* reexec: only with a bash */
	bool history; /* commands for programs go into the shell's history unless they say otherwise */
	const char *const *env_names;
	const char *const *env_values;
	size_t env_count;
};

struct sessions;

/* Someone who waits for a session to be started, or to be gone. */
struct session_waiter {
	struct held_waiter held; /* the table's */
	/* error: 0, or a negative errno and what failed; then session is about to go. */
	void (*done)(void *user, struct session *session, enum report_stage stage, int error);
	void *user;
};

struct session {
	struct sessions *table;
	struct pane pane; /* its terminal, in its holder */
	char name[NAME_BYTES_MAX + 1];
	uint64_t created_ms;    /* wall clock */
	char **shell_arguments; /* of its shell, ended by NULL; owned; NULL: none */
	char **argv; /* the program that it has in place of a shell, ended by NULL; owned; NULL: a shell */
	uint64_t idle_timeout_ms;
	enum shell_exit on_shell_exit;
	uint64_t restarts; /* shells that have ended and been followed by another, as far as seen */
	int restart_status; /* wait(2) status of the last of them */
	enum session_life state;
	enum session_end end;     /* valid once exited */
	int exit_status;          /* wait(2) status, unless the holder died */
	uint64_t exited_ms;       /* wall clock */
	struct executor executor; /* commands for programs */
	struct blocks blocks;     /* all commands */
	uint64_t shells_seen;     /* EVENT_SHELLs that have been acted upon, without an executor */
	struct presence presence;
	bool size_refused;     /* its windows want a size for which the screens have no memory */
	struct look focus;     /* whether the program wants to hear of that */
	size_t replies_unread; /* bytes of answers since all input had been read */
	uint64_t replies_since_ms; /* loop time */
	size_t replies_since;      /* and since then */
	struct typing typing;
	uint64_t name_version;          /* counts renames */
	uint64_t title_version;         /* counts what programs have made of the title */
	struct session_viewer *viewers; /* the one whose turn is next is the first */
	unsigned viewers_due;           /* that are yet to have what there is */
	uint64_t news_told;             /* sum of what there was, see follow.c */
	struct waits *waits;            /* NULL: nobody has waited yet */
	struct patience patience;       /* with viewers that are behind, but read */
	uint64_t pace_ms;               /* loop time of what pace_bytes counts */
	size_t pace_bytes, pace_before; /* consumed in that millisecond, and in the one before */
	bool collecting;                /* so much that what comes is collected for a moment */
};

/* What it is at, in any state of its life; see pane_state(). */
void session_state(struct session *s, struct pane_state *ret_state);

/* Wait for it. Returns as wait_start(), or -ENOTCONN when it has not been started yet. */
int session_wait(struct session *s, const struct wait_options *options, struct wait_waiter *waiter);

/* The offset behind the newest byte, and that of the oldest; 0 while starting. */
uint64_t session_head(const struct session *s);
uint64_t session_oldest(const struct session *s);

/* Follow the session, which must not be starting or ending. Others are told. */
void session_attach(struct session *s, struct session_viewer *v);

/* Stop following; harmless when v is not attached. */
void session_detach(struct session *s, struct session_viewer *v);

/*
 * Input from an attached client that may type, and shows the id of a lease if it has one (otherwise NULL). A report
 * of its terminal's focus reaches the program only if that has asked for it and the session's focus changes by it.
 * Returns 0, or as session_type_as() (shell/session/type.h).
 */
int session_type(struct session *s, struct session_viewer *v, const char *lease, const void *bytes,
	size_t length);

/* So much input of a viewer has been refused, and counts as typed. */
void session_refuse_input(struct session *s, struct session_viewer *v, size_t length);

/* How much of what a viewer with a key has typed the terminal has taken. Returns false when that is not known. */
bool session_input_taken(
	const struct session *s, const struct session_viewer *v, uint64_t *ret_taken);

/*
 * The lease of its keyboard: take it, give it back (id NULL: whoever has it), with everybody told. The same returns as
 * in shell/input/lease.h; -ENOTCONN when the session does not run. note: for whoever comes next; NULL: none.
 */
int session_lease(struct session *s, const struct lease_terms *terms);
bool session_give_back(struct session *s, const char *id, const struct lease_note *note);

/* Look whether its time is over, or nothing runs that its heir waits for; called now and then. */
void session_follow_lease(struct session *s);

/* Input from the session itself, unasked. Returns 0, -ENOBUFS, or -ENOTCONN once it has ended. */
int session_write(struct session *s, const void *bytes, size_t length);

/*
 * An attached client's window has changed (1 to PRESENCE_SIDE_MAX each). Where it may not type, by the lease that it
 * shows, it may not size either: then false, and the window counts when that lease is over. So do windows of who comes.
 */
bool session_window(struct session *s, struct session_viewer *v, const char *lease, unsigned rows,
	unsigned cols);

/*
 * Whether it can be asked for what its holder does at some time: 0, -ENOTCONN unless it runs, -EHOSTDOWN when the holder
 * has been stopped and has not answered for LINK_SILENT_MS.
 */
int session_heeds(const struct session *s);

/*
 * Set the size. Under the policy latest nobody holds it then, until somebody types. Returns 0, -EINVAL,
 * as session_heeds(), -EXFULL when there is no memory for such a screen, or -EPERM when the policy leaves it to the windows alone (smallest, owner).
 */
int session_resize(struct session *s, unsigned rows, unsigned cols);

/*
 * Choose whose window is the size, for this server and the next. rows, cols: the size when the policy is
 * fixed. Returns 0, -EINVAL, as session_heeds(), or another negative errno (it could not be stored).
 */
int session_set_size_policy(
	struct session *s, enum size_policy policy, unsigned rows, unsigned cols);

/* Signal the foreground process group or the shell. Returns 0, or as session_heeds(). */
int session_signal(struct session *s, int signo, enum wire_target target);

/* Rename; the name has been checked. Returns 0 or a negative errno (it could not be stored). */
int session_rename(struct session *s, const char *name);

/* Tell all who watch it, as a program does by OSC 777; the texts have been checked. title: NULL = none. */
void session_notify(struct session *s, const char *title, const char *text);

/* Name of a viewer has changed. */
void session_rename_viewer(struct session *s, struct session_viewer *v, const char *name);

/* Facts, for those who need not know what a session is made of. What is returned lives as long as the session. */

/* Its id, unique in the table. */
const char *session_id(const struct session *s);

/* Whether its output can be read: the holder has been attached to, now or before it was lost. */
bool session_is_readable(const struct session *s);

/* Tells this session from others that have had its id; 0 while it is not readable. */
uint64_t session_epoch(const struct session *s);

/* The number of its shell; 0 while it is not readable. */
pid_t session_pid(const struct session *s);

/* The directory that its shell is in, as exec_shell_directory() tells; 0 where there is no shell. */
ssize_t session_directory(const struct session *s, char *ret_path, size_t size);

/* The number of its holder, whose child the shell is; likewise. */
pid_t session_holder(const struct session *s);

/* The offset behind its last byte, once it has exited. */
uint64_t session_end_offset(const struct session *s);

/* Bytes of input that wait for a program to read them. */
size_t session_queued(const struct session *s);

/* Its processes that were left when deleting it gave up waiting for them. */
unsigned session_survivors(const struct session *s);

/* What the holder has written, and its bytes alone; of size 0 while it is not readable. */
const struct ring *session_ring(const struct session *s);
const struct stream *session_bytes(const struct session *s);

/* For readers with a cursor of their own; only while it is readable. */
struct history *session_history(struct session *s);

/* Who is there; the lease of its keyboard, held or not; and what was typed by whom. */
const struct presence *session_presence(const struct session *s);
const struct lease *session_keyboard(const struct session *s);
const struct typed *session_typed(const struct session *s);

/* The commands of programs, the session that such a command is in, all commands, and what happened besides. */
struct executor *session_executor(struct session *s);
struct session *session_of_exec(const struct exec *e);
struct blocks *session_blocks(struct session *s);
struct journal *session_journal(struct session *s);

/* Whether something of its commands is still to be written to disk. */
bool session_log_is_behind(const struct session *s);

/* The session behind s in the table; the first for NULL; NULL behind the last. s must still be there. */
struct session *session_next(const struct sessions *t, const struct session *s);
