/*
 * The terminal socket, /ws/pty. A client has a cursor into its session's history and no queue: what to send is determined when
 * it can be sent.
 *
 * Order: attached; a snapshot, unless the client resumes; sync, history, ready, then live output. See "The terminal socket" in
 * ws/README.md.
 */
#pragma once

#include "shell/session/sessions.h"
#include "ws/auth/auth.h"
#include "ws/socket/frames.h"
#include "ws/socket/message.h"
#include "ws/socket/pace.h"
#include "ws/socket/terminal_query.h"
#include "ws/metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERMINAL_MESSAGE_MAX ((size_t)1 << 20) /* bytes of a client's message */
#define TERMINAL_CLIENTS_MAX 256u              /* of one session */
#define TERMINAL_LAG_MS 250u     /* a backlog must have waited for this time to be replaced */
#define TERMINAL_JOURNAL_MAX 16u /* entries of the journal that are sent; older ones are skipped */
#define TERMINAL_REFRESH_MS 200u /* between checks of a client that is too slow */

/* Why a client gets a snapshot; the greater reason wins. */
enum snapshot_reason { SNAPSHOT_NONE, SNAPSHOT_LAG, SNAPSHOT_REQUEST, SNAPSHOT_ATTACH };

#define TERMINAL_PRIVATE_ENV_MAX 258u

/* A session of one client alone, which ends with its connection. */
struct terminal_private {
	struct session_options options; /* its strings are borrowed from the rest */
	char id[NAME_ID_MAX + 1];
	char program[4200], at[4096], shell[256];
	const char *names[TERMINAL_PRIVATE_ENV_MAX], *values[TERMINAL_PRIVATE_ENV_MAX];
};

/* Makes such sessions; see ws/api/bridge/terminal.h. */
struct terminal_factory {
	/* Whether one can be made; status 0 = yes. */
	struct refusal (*check)(void *user, const struct terminal_query *q);
	/* Fill in *ret, and acquire quota that over() releases. Returns false if there is none. */
	bool (*make)(void *user, const struct terminal_query *q, struct terminal_private *ret);
	/* The session has ended. */
	void (*over)(void *user, const struct terminal_query *q, const char *id);
	void *user;
};

/* A terminal socket that is to be opened. All is borrowed. */
struct terminal_opening {
	const struct terminal_query *query;
	char *const *params; /* of the target, decoded */
	size_t params_count;
	const struct principal *principal;
	const char *peer;
	const struct frames_transport *transport; /* lives until closed() of the protocol */
	void *transport_user;
};

/* Opens those for sessions of other nodes; see ws/fleet/routed_terminal.h. */
struct terminal_elsewhere {
	/* Whether it is for one that may be at another node. Then terminal_check() is called later. */
	bool (*is)(void *user, const struct terminal_query *q, const struct principal *principal);
	/* Returns what the protocol gets; NULL when memory is short. */
	void *(*open)(void *user, const struct terminal_opening *opening);
	const struct frames_protocol *protocol;
	void *user;
};

/* All terminal sockets. */
struct terminals {
	struct terminal_factory maker;              /* of own sessions; check NULL = none */
	const struct terminal_elsewhere *elsewhere; /* NULL: there is no fleet */
	struct sessions *sessions;                  /* borrowed, like all here */
	struct metrics *metrics;
	struct terminal *list;
	uint8_t *scratch;      /* headroom and one frame */
	size_t snapshot_bytes; /* of all snapshots that are made and not sent */
	uv_timer_t refresh;    /* active while clients are behind */
};

/* A paste of a client. Zero: none. */
struct terminal_paste {
	uint64_t id; /* the client's; 0 = none */
	struct session_paste pieces;
	uint64_t lines, longest; /* of its text: lines, and bytes of the longest one */
	bool confirmed;          /* the user has confirmed several lines */
	struct look look;        /* reads the modes of the program */
	uint8_t *held;           /* what has come meanwhile, or before the session; owned */
	size_t held_length;
	bool refused; /* the rest is dropped */
};

#define TERMINAL_REFUSALS_MAX 16u

/* A refused paste; literals. */
struct paste_refusal {
	uint64_t id;
	const char *code, *message;
};

/* A client of a session; heap. "..._told": what the client was last sent. */
struct terminal {
	struct terminal *prev, *next;
	struct terminals *all;
	const struct frames_transport *transport;
	void *transport_user;
	struct principal principal;
	struct session *session;    /* NULL while it starts, and after its end */
	struct terminal_query *own; /* it has a session of its own; owned; NULL = a shared session */
	char own_id[NAME_ID_MAX + 1];
	struct session_viewer viewer;
	struct session_waiter waiter;
	bool waiting; /* for the session to start */
	bool closed;  /* the transport was closed while waiting */
	bool resume;  /* epoch and offset were given */
	uint64_t epoch, offset;
	struct history_cursor cursor;
	uint64_t waiting_to; /* output before this offset has waited */
	uint64_t waiting_ms; /* since then; loop time */
	uint64_t skipped;
	uint64_t ready_at;  /* offset where history ends */
	unsigned lines;     /* of scrollback that it wants in snapshots */
	uint64_t lag;       /* backlog from which a snapshot replaces it */
	struct pace pace;   /* of its line */
	bool blocks;        /* it gets events of commands, and marks in snapshots */
	bool blocks_missed; /* some events were skipped, which is to be sent */
	enum snapshot_reason snapshot_due;
	struct look look;         /* makes it */
	bool has_picture;         /* it is made, and counted in snapshot_bytes */
	struct snapshot snapshot; /* being sent, while it has bytes */
	size_t snapshot_sent;
	bool behind;             /* too slow: gets snapshots instead of the stream */
	bool partial;            /* its last snapshot had fewer lines than it wants */
	bool screen_first;       /* its first snapshot has no scrollback, which follows at once */
	bool full_lines;         /* snapshots for lag may have scrollback again */
	unsigned drained_count;  /* checks in a row with nothing in flight */
	unsigned quiet_count;    /* checks in a row with little output as well */
	unsigned drained_needed; /* before it gets the stream again; 0 = no trial has failed */
	unsigned kept_count;     /* checks since it gets the stream again */
	uint64_t limit_seen;     /* end of the output at the last check */
	bool attached_told, sync_told, ready, closing;
	bool sync_due;                   /* a sync must follow the snapshot that was sent */
	uint64_t presence_told;          /* version */
	uint64_t name_told;              /* version */
	uint64_t title_told;             /* version */
	uint64_t lease_told;             /* version */
	uint64_t journal_told;           /* the next entry of the session's journal */
	uint64_t restarts_told;          /* of the shell */
	char lease[LEASE_ID_LENGTH + 1]; /* the one that it has shown, or "" */
	uint64_t input_told;             /* bytes of its last receipt */
	struct terminal_paste paste;
	struct paste_refusal refusals[TERMINAL_REFUSALS_MAX]; /* to be sent, oldest first */
	unsigned refusals_count;
	bool draining_told;
	bool pong;
	char pong_time[MESSAGE_TIME_MAX]; /* JSON */
	const char *error_code;           /* to be sent; literals; NULL = none */
	const char *error_message;
};

/* Initialize all. Returns 0 or a negative errno. */
int terminals_open(struct terminals *all, struct sessions *sessions, struct metrics *metrics);

/* Free the buffer and close the timer. */
void terminals_close(struct terminals *all);

/* The server begins or stops to drain: send that to all clients. */
void terminals_send_drain(struct terminals *all);

/* Whether it is for a session that may be at another node: then all->elsewhere opens it. */
static inline bool terminal_is_elsewhere(const struct terminals *all,
	const struct terminal_query *query, const struct principal *principal)
{
	return all->elsewhere && all->elsewhere->is(all->elsewhere->user, query, principal);
}

/* Whether this principal may open it now; status 0 = yes. */
struct refusal terminal_check(struct terminals *all, const struct terminal_query *query,
	const struct principal *principal);

/* Begin after the upgrade. The transport must live until the protocol's closed(). Returns NULL when memory is short. */
struct terminal *terminal_open(struct terminals *all, const struct terminal_query *query,
	const struct principal *principal, const struct frames_transport *transport,
	void *transport_user);

/* What the transport calls; self is the struct terminal, which closed() frees. */
extern const struct frames_protocol terminal_protocol;

/* Close the terminals of a revoked link. */
void terminals_revoke(struct terminals *all, const char *link);

/* Close the terminals of a login that has ended. */
void terminals_log_out(struct terminals *all, const char *login);

/* Once a second: close terminals that are for a prompt that has been answered. */
void terminals_sweep(struct terminals *all);
