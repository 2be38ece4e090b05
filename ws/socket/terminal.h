/*
 * The terminal socket: what is said on /ws/pty, whatever carries its frames. A client has a cursor into
 * its session's history and no queue: whatever it is to be told is worked out when it can take it.
 *
 * Order: attached; a snapshot, unless it resumes; sync, history, ready, then live output. See "The terminal socket" in
 * ws/README.md.
 */
#pragma once

#include "shell/session/sessions.h"
#include "ws/auth/auth.h"
#include "ws/socket/frames.h"
#include "ws/socket/message.h"
#include "ws/socket/pace.h"
#include "ws/metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERMINAL_MESSAGE_MAX ((size_t)1 << 20) /* bytes that a client may send in one message */
#define TERMINAL_CLIENTS_MAX 256u              /* of one session */
#define TERMINAL_LAG \
	((uint64_t)1 << 20) /* backlog in bytes from which a snapshot takes its place ... */
#define TERMINAL_NEWS_MAX \
	16u /* entries of a journal that are told; what is older is not news any more */
#define TERMINAL_LINE_BYTES 64u           /* of scrollback, about, in a snapshot */
#define TERMINAL_BESIDE ((size_t)8 << 10) /* of it, about, may go with who comes first sees */
#define TERMINAL_LAG_MS 250u              /* ... if it has waited for so long */
#define TERMINAL_SNAPSHOTS_MAX ((size_t)64 << 20) /* bytes of all; beyond they have no scrollback */
#define TERMINAL_REFRESH_MS 200u            /* how often a client that is too slow is looked at */
#define TERMINAL_DRAINED ((size_t)16 << 10) /* bytes on their way that count as none */
#define TERMINAL_DRAINED_TIMES 5u           /* how often before it is back in the stream */
#define TERMINAL_PATIENCE 150u              /* how often at most, after trials that have failed */
#define TERMINAL_KEPT_TIMES 50u /* how often it is looked at until a trial has not failed */

/* Why a client gets a snapshot; the greater reason wins. */
enum snapshot_reason { SNAPSHOT_NONE, SNAPSHOT_LAG, SNAPSHOT_REQUEST, SNAPSHOT_ATTACH };

struct terminal_query;

#define TERMINAL_OWN_ENV_MAX 258u

/*
 * A session that is a client's alone, and ends with it. Its client hears of its beginning, its output and its end. Strings of
 * options are borrowed of the rest.
 */
struct terminal_own {
	struct session_options options;
	char id[NAME_ID_MAX + 1];
	char program[4200], at[4096], shell[256];
	const char *names[TERMINAL_OWN_ENV_MAX], *values[TERMINAL_OWN_ENV_MAX];
};

/* Who makes those; see ws/api/bridge/terminal.h. */
struct terminal_maker {
	/* Whether there can be one; returns status 0 then. */
	struct refusal (*check)(void *user, const struct terminal_query *q);
	/* Fill in *ret, with a place for it, which over() gives back. Returns false when there is none. */
	bool (*make)(void *user, const struct terminal_query *q, struct terminal_own *ret);
	void (*over)(void *user, const struct terminal_query *q, const char *id);
	void *user;
};

/* All terminal sockets. */
struct terminals {
	struct terminal_maker maker; /* of terminals of their own; check is NULL: there are none */
	struct sessions *sessions;   /* borrowed, like all here */
	struct metrics *metrics;
	struct terminal *list;
	uint8_t *scratch;      /* headroom and one frame */
	size_t snapshot_bytes; /* of all snapshots that are being sent */
	uv_timer_t refresh;    /* active while clients are behind */
};

struct terminal {
	struct terminal *prev, *next;
	struct terminals *all;
	const struct frames_transport *transport;
	void *transport_user;
	struct principal principal;
	struct session *session;    /* NULL while it starts, and once it is gone */
	struct terminal_query *own; /* its session is its own; owned; NULL: it is everybody's */
	char own_id[NAME_ID_MAX + 1];
	struct session_viewer viewer;
	struct session_waiter waiter;
	bool waiting;   /* for the session to start */
	uint8_t *early; /* what was typed before that, up to LINK_INPUT_MAX */
	size_t early_length;
	bool closed; /* the transport has gone while waiting */
	bool resume; /* epoch and offset were given */
	uint64_t epoch, offset;
	struct history_cursor cursor;
	uint64_t waiting_to,
		waiting_ms; /* output before this offset has waited for it since then (loop time) */
	uint64_t skipped;
	uint64_t ready_at;  /* offset where history ends */
	unsigned lines;     /* of scrollback that it wants in snapshots */
	uint64_t lag;       /* its backlog is worth a snapshot */
	struct pace pace;   /* what its line delivers, if it tells */
	bool blocks;        /* it is told of commands, and where the screen has them */
	bool blocks_missed; /* not of all: that is to be told */
	enum snapshot_reason snapshot_due;
	struct look look;         /* for that */
	bool pictured;            /* and what it has seen is counted as a snapshot */
	struct snapshot snapshot; /* being sent, while it has bytes */
	size_t snapshot_sent;
	bool behind;       /* too slow: it gets snapshots instead of the stream */
	bool partial;      /* its last snapshot had fewer lines than it wants */
	bool screen_first; /* the same, for it has just come: what it lacks follows at once */
	bool calm;         /* it has not been too slow since it was given all lines */
	unsigned drained;  /* times in a row that nothing was on its way to it */
	unsigned thin;     /* and that there had been little output */
	unsigned patience; /* how often it has to have taken all before it is tried again; 0: never failed */
	unsigned kept;       /* times that it was looked at since it is back in the stream */
	uint64_t limit_seen; /* offset up to which there was output then */
	bool attached_told, sync_told, ready, closing;
	bool sync_due; /* the snapshot that was sent is to be followed by one, whatever is due then */
	uint64_t presence_told;          /* version */
	uint64_t name_told;              /* version */
	uint64_t title_told;             /* version */
	uint64_t lease_told;             /* version */
	uint64_t journal_told;           /* the next entry of the session's journal */
	uint64_t restarts_told;          /* of the shell */
	char lease[LEASE_ID_LENGTH + 1]; /* the one that it shows when it types, or "" */
	uint64_t input_told;             /* bytes of its input that it knows to be taken */
	bool draining_told;
	bool pong;
	char pong_time[MESSAGE_TIME_MAX]; /* JSON */
	const char *error_code;           /* to be told: literals */
	const char *error_message;
};

/* The query of a request for a terminal socket. */
struct terminal_query {
	char session[NAME_ID_MAX + 1]; /* with a sandbox: one of that; "" = none */
	char sandbox[NAME_ID_MAX + 1]; /* of a terminal of its own; "" = of none */
	char name[NAME_BYTES_MAX + 1]; /* "" = none given */
	char shell[256];               /* "" = default; counts only for a new session */
	unsigned rows, cols;           /* 0 = not given */
	bool resume;
	uint64_t epoch, offset;
	unsigned lines;               /* of scrollback */
	uint64_t lag;                 /* bytes */
	bool acks;                    /* it says what has reached it */
	bool blocks;                  /* commands are to be told as well */
	char client[NAME_ID_MAX + 1]; /* the same on all its connections; "" = it wants no receipts */
	char person[NAME_ID_MAX + 1]; /* whose it is, as others of theirs say; "" = nobody says */
	uint64_t typed;               /* bytes of its input that it knows to be taken */
};

int terminals_open(struct terminals *all, struct sessions *sessions, struct metrics *metrics);
void terminals_close(struct terminals *all);

/* The server is being drained, or not any more: those who are there are told. */
void terminals_tell_drain(struct terminals *all);

/* Read the query. Pure. */
struct refusal terminal_parse(char *const *params, size_t count, struct terminal_query *ret_query);

/* The same for a terminal of its own in this sandbox, for the owner alone. header: Session-Id, or "". Pure. */
struct refusal terminal_parse_own(const char *sandbox, const char *header, char *const *params,
	size_t count, struct terminal_query *ret_query);

/* Whether this principal may open it now. */
struct refusal terminal_check(struct terminals *all, const struct terminal_query *query,
	const struct principal *principal);

/*
 * Begin, after the upgrade. The transport's memory must live until terminal_close(). Returns NULL when
 * memory is short.
 */
struct terminal *terminal_open(struct terminals *all, const struct terminal_query *query,
	const struct principal *principal, const struct frames_transport *transport,
	void *transport_user);

/* The transport can take frames again. */
void terminal_writable(struct terminal *t);

/* Keystrokes. */
void terminal_input(struct terminal *t, const void *bytes, size_t length);

/* A control message; one of more than MESSAGE_MAX bytes is refused, and text need not hold it. */
void terminal_control(struct terminal *t, const char *text, size_t length);

/* The connection is over; t is freed. */
void terminal_close(struct terminal *t);

/* The same for the transport. */
extern const struct frames_protocol terminal_protocol;

/* Close what a revoked link, or a login that has ended, has open; and whatever has expired by now_ms (wall clock). */
void terminals_revoke(struct terminals *all, const char *link);
void terminals_log_out(struct terminals *all, const char *login);
void terminals_expire(struct terminals *all, uint64_t now_ms);
