/*
 * A session: one shell on one PTY in a holder of its own, its history, and the attached clients.
 *
 * States: starting -> running -> exited; ending from any of them, then it is freed. It belongs to the table of
 * shell/session/sessions.h, which creates, finds and ends sessions.
 *
 * A session uses six descriptors in the server: its directory, the holder's socket, the two eventfds for wake-ups, the
 * PTY (input), and the script of its bash (shell/exec/exec.h). Mapped memory needs none.
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

#define SESSION_TURN ((size_t)60 << 10) /* bytes consumed in a turn: a little less than a frame */
#define SESSION_TURN_NS 200000u         /* time limit of a turn */

/* The program does not wait for a viewer that has consumed nothing for this long. */
#define SESSION_VIEWER_READS_MS 50u

#define SESSION_REPLIES_MAX 8192u       /* bytes of replies since all input had been read */
#define SESSION_REPLIES_SHELL_MAX 1024u /* bytes of replies to the shell in SESSION_REPLIES_MS */
#define SESSION_REPLIES_MS 1000u

#define SESSION_ARGV_MAX 256u                 /* a program and its arguments */
#define SESSION_ARGV_BYTES ((size_t)16 << 10) /* all of them, with their NULs */

struct pane_state;
struct wait_options;
struct wait_waiter;

/* Where a session is in its life. */
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

/* Whether the exit status of the shell is known. */
static inline bool session_end_is_known(enum session_end end)
{
	return end == SESSION_END_EXITED || end == SESSION_END_SIGNAL;
}

/* A client that follows a session; the client owns the memory. No callback may detach another viewer. */
struct session_viewer {
	struct session_viewer *prev, *next;
	void (*more)(void *user);    /* the history has more, or the session has ended */
	void (*changed)(void *user); /* presence, name or size policy has changed */
	/* The session is gone, and the viewer has been detached. deleted: it was ended. */
	void (*gone)(void *user, bool deleted);
	void *user;
	struct attendee attendee; /* set name, role and window before session_attach() */
	/* Set by the viewer: */
	uint64_t offset;  /* up to which it has got the output */
	uint64_t read_ms; /* loop time when it last had got all output; 0: do not wait for it */
	bool waits;       /* hold output back for it without a time limit: it is the only viewer */
	uint64_t key;     /* of the client in ring/receipts.h; 0: no receipts */
	uint64_t typed;   /* bytes typed on all its connections, refused ones included */
	bool has_theme;
	struct theme theme; /* that it draws with */
};

/* Options of a new session. Strings are borrowed; NULL or 0: the default. */
struct session_options {
	const char *id;                     /* checked by the table */
	const char *name;                   /* default: the id */
	const char *cwd;                    /* absolute; default: the table's */
	struct directory_found found;       /* the check of cwd */
	const char *shell;                  /* path or name; default: bash */
	const char *const *shell_arguments; /* NULL-terminated, within SESSION_ARGV_…; NULL: none */
	/* A program with arguments instead of a shell: NULL-terminated, within SESSION_ARGV_…; NULL: a shell. */
	const char *const *argv;
	unsigned rows, cols;         /* default 24 x 80 */
	enum screen_unicode unicode; /* version of its character widths */
	/* End it after this time without clients and activity; 0: never. */
	uint64_t idle_timeout_ms;
	enum shell_exit on_shell_exit; /* reexec: only bash */
	bool history;                  /* execs go into the shell's history by default */
	const char *const *env_names;
	const char *const *env_values;
	size_t env_count;
};

struct sessions;

/* Waits until a session is started or gone. */
struct session_waiter {
	struct held_waiter held; /* used by the table */
	/* error: 0, or a negative errno; then stage is what failed, and the session is about to be freed. */
	void (*done)(void *user, struct session *session, enum report_stage stage, int error);
	void *user;
};

/* One session. */
struct session {
	struct sessions *table;
	struct pane pane; /* its terminal */
	char name[NAME_BYTES_MAX + 1];
	uint64_t created_ms;    /* wall clock */
	char **shell_arguments; /* NULL-terminated, owned; NULL: none */
	char **argv; /* program instead of a shell: NULL-terminated, owned; NULL: a shell */
	uint64_t idle_timeout_ms;
	enum shell_exit on_shell_exit;
	uint64_t restarts;  /* shells that ended and were followed by another */
	int restart_status; /* wait(2) status of the last one */
	enum session_life state;
	enum session_end end;     /* valid in state exited */
	int exit_status;          /* wait(2) status, unless the holder died */
	uint64_t exited_ms;       /* wall clock */
	int64_t exited_boot_ms;   /* since boot; negative: before it */
	struct executor executor; /* of execs */
	struct blocks blocks;     /* all commands */
	uint64_t shells_seen;     /* EVENT_SHELLs that were handled, if there is no executor */
	struct presence presence;
	bool size_refused;     /* the windows require a size that exceeds the memory for screens */
	struct look focus;     /* a pending check whether the program wants focus reports */
	size_t replies_unread; /* bytes of replies since all input had been read */
	uint64_t replies_ms;   /* loop time of the last reply */
	uint64_t reply_window_ms;  /* loop time when the current SESSION_REPLIES_MS began */
	size_t reply_window_bytes; /* bytes of replies since then */
	struct typing typing;
	uint64_t name_version;          /* counts renames */
	uint64_t title_version;         /* counts changes of the title */
	struct session_viewer *viewers; /* the first one is notified next */
	unsigned viewers_due;           /* to be notified in this round */
	uint64_t news_notified;   /* count_news() (follow.c) when viewers were last notified */
	struct waits *waits;      /* NULL: no wait so far */
	struct patience patience; /* with viewers that lag behind but read */
	uint64_t pace_ms;         /* the millisecond (loop time) of pace_bytes */
	size_t pace_bytes;        /* bytes consumed in that millisecond */
	size_t pace_before;       /* bytes consumed in the one before */
	bool collecting;          /* the output rate is high: consume it once a millisecond */
};

/* What the session is doing, in any state: see pane_state(). */
void session_state(struct session *s, struct pane_state *ret_state);

/* Start a wait. Returns as wait_start(), or -ERR_NOT_RUNNING if the session has not started yet. */
int session_wait(struct session *s, const struct wait_options *options, struct wait_waiter *waiter);

/* The offset after the newest byte; 0 while starting. */
uint64_t session_head(const struct session *s);

/* The offset of the oldest byte; 0 while starting. */
uint64_t session_oldest(const struct session *s);

/*
 * Use the viewer's theme for programs if it has one and may type, unless another attached viewer has typed since. lease: as for
 * session_type(). When the viewer types, its theme is used in any case.
 */
void session_use_theme(struct session *s, const struct session_viewer *v, const char *lease);

/* Attach a viewer; the session must not be starting or ending. Other viewers are notified. */
void session_attach(struct session *s, struct session_viewer *v);

/* Detach; does nothing if v is not attached. */
void session_detach(struct session *s, struct session_viewer *v);

/*
 * Input from an attached client that may type. lease: the id of a lease, or NULL. A focus report of the client's terminal
 * reaches the program only if the program has enabled focus reports, and only if it changes whether any
 * client's terminal has the focus. Returns 0, or as session_type_as() (shell/session/type.h).
 */
int session_type(struct session *s, struct session_viewer *v, const char *lease, const void *bytes,
	size_t length);

/* A paste of a viewer, which comes in pieces. */
struct session_paste {
	uint64_t left;  /* bytes that are still to come; set by the caller */
	bool bracketed; /* the program wants markers; set by the caller */
	bool begun;     /* the first piece has been typed */
	uint64_t ends;  /* of commands, before the last piece */
	struct typing_cleaner cleaner;
};

/*
 * Input of a viewer that is the next piece of a paste: cleaned by typing_clean(), and between markers, which are not counted as
 * typed. Without a marker it continues a paste that an earlier server has left open. length: at most p->left. Returns as
 * session_type(); pieces that are refused count as typed.
 */
int session_paste(struct session *s, struct session_viewer *v, const char *lease,
	struct session_paste *p, const void *bytes, size_t length);

/* The viewer does not go on with its paste: end it. */
void session_cancel_paste(struct session *s, const struct session_viewer *v);

/* Count refused input of a viewer as typed. */
void session_refuse_input(struct session *s, struct session_viewer *v, size_t length);

/* How many bytes of the input of a viewer with a key the terminal has accepted. Returns false if that is unknown. */
bool session_find_receipt(
	const struct session *s, const struct session_viewer *v, uint64_t *ret_taken);

/* The same, with bytes that wait in this server's queue: a client that connects again must not send them again. */
bool session_find_typed(
	const struct session *s, const struct session_viewer *v, uint64_t *ret_typed);

/*
 * Acquire the keyboard's lease, and notify. Returns as lease_acquire(), or -ERR_NOT_RUNNING if the session is not
 * running.
 */
int session_acquire_lease(struct session *s, const struct lease_terms *terms);

/* Release the lease with this id (NULL: any), leave a note (NULL: none), notify. Returns whether it was held. */
bool session_release_lease(struct session *s, const char *id, const struct lease_note *note);

/* Expire the lease, or hand it over to its heir when nothing runs; called periodically. */
void session_update_lease(struct session *s);

/* Write input that no client typed. Returns 0, -ENOBUFS, or -ERR_NOT_RUNNING once the session has ended. */
int session_write(struct session *s, const void *bytes, size_t length);

/*
 * Set the window of an attached client (1 to PRESENCE_SIDE_MAX each). If its lease does not let it type, the window
 * counts only after the other lease ends: returns false. The same goes for clients that attach meanwhile.
 */
bool session_set_window(struct session *s, struct session_viewer *v, const char *lease,
	unsigned rows, unsigned cols);

/*
 * Whether the session can serve a request to its holder: 0, -ERR_NOT_RUNNING unless it is running, -ERR_UNRESPONSIVE if
 * the holder is stopped and has been silent for LINK_UNRESPONSIVE_MS.
 */
int session_check_responsive(const struct session *s);

/*
 * Set the size. Under the policy latest it stays until a client types. Returns 0, -EINVAL, as
 * session_check_responsive(), -ERR_SCREEN_BUDGET (no memory for such a screen), or -EPERM (the policy smallest or owner
 * leaves the size to the windows).
 */
int session_resize(struct session *s, unsigned rows, unsigned cols);

/*
 * Set the size policy, and save it. rows, cols: the size for the policy fixed. Returns 0, -EINVAL, as
 * session_check_responsive(), or another negative errno if it cannot be saved. On an error neither the policy nor the
 * size changes.
 */
int session_set_size_policy(
	struct session *s, enum size_policy policy, unsigned rows, unsigned cols);

/* Signal the foreground process group or the shell. Returns 0, or as session_check_responsive(). */
int session_signal(struct session *s, int signo, enum wire_target target);

/* Rename; the name has been checked. Returns 0, or a negative errno if it cannot be saved. */
int session_rename(struct session *s, const char *name);

/* Notify all clients, as a program does by OSC 777; the texts have been checked. title: NULL: none. */
void session_notify(struct session *s, const char *title, const char *text);

/* Rename a viewer. */
void session_rename_viewer(struct session *s, struct session_viewer *v, const char *name);

/* Getters, for callers that need not know the parts of a session. The results live as long as the session. */

/* Its id, unique in the table. */
const char *session_id(const struct session *s);

/* Whether its output can be read: the holder has been attached to, even if it is lost now. */
bool session_is_readable(const struct session *s);

/* Distinguishes this session from earlier ones of its id; 0 while not readable. */
uint64_t session_epoch(const struct session *s);

/* The pid of its shell; 0 while not readable. */
pid_t session_shell_pid(const struct session *s);

/* The current directory of its shell, as exec_shell_directory() returns it; 0 if there is no shell. */
ssize_t session_directory(const struct session *s, char *ret_path, size_t size);

/* The pid of its holder, the parent of the shell; 0 while not readable. */
pid_t session_holder_pid(const struct session *s);

/* The offset after its last byte, once it has exited. */
uint64_t session_end_offset(const struct session *s);

/* Bytes of input that no program has read yet. */
size_t session_queued(const struct session *s);

/*
 * Whether the next server can continue everything: there is no command that waits in the queue, is being typed or is being
 * cancelled, and no input that waits for the program to read.
 */
bool session_is_settled(const struct session *s);

/* Processes that were left when its end was given up for now. */
unsigned session_survivors(const struct session *s);

/* The shared memory that the holder writes; of size 0 while not readable. */
const struct ring *session_ring(const struct session *s);

/* Its output; of size 0 while not readable. */
const struct stream *session_bytes(const struct session *s);

/* Its history, for readers with a cursor of their own; only while readable. */
struct history *session_history(struct session *s);

/* The attached clients. */
const struct presence *session_presence(const struct session *s);

/* The lease of its keyboard, held or not. */
const struct lease *session_keyboard(const struct session *s);

/* The input log. */
const struct typed *session_typed(const struct session *s);

/* Its execs. */
struct executor *session_executor(struct session *s);

/* The session of an exec. */
struct session *session_of_exec(const struct exec *e);

/* All its commands. */
struct blocks *session_blocks(struct session *s);

/* Its other events. */
struct journal *session_journal(struct session *s);

/* Whether execs or blocks could not be saved so far. */
bool session_log_is_behind(const struct session *s);

/* The next session after s in the table, which s must be in; the first for NULL; NULL after the last. */
struct session *session_next(const struct sessions *t, const struct session *s);
