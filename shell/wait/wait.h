/*
 * Waiting for a session: for the end of a command, for a prompt, for a program that wants input, for text, for
 * silence. A wait has several conditions and ends with the first that is true, or when its time is up. They are
 * looked at when there is output, and otherwise by one timer a session, at the times that matter: a wait for which
 * nothing happens costs nothing. Only whether a program waits for input has to be looked up again and again, the less
 * often the longer it is quiet.
 *
 * A wait with a key can be asked for again: it is the same then, and what it came to is kept for a while.
 */
#pragma once

#include "ring/search/pattern.h"
#include "shell/claim.h"
#include "shell/output/record.h"
#include "shell/wait/state.h"
#include "shell/wait/waits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_CONDITIONS_MAX 16u
#define WAITS_MAX 64u             /* of a session, pending */
#define WAITS_KEPT_MAX 64u        /* of a session, over: of owners, and as many of all others */
#define WAIT_PATTERNS_MAX 64u     /* of a session */
#define WAIT_PATTERNS_TOTAL 1024u /* of all sessions */
#define WAIT_PORTS_MAX 16u        /* of a session: each is probed twice a second */
#define WAIT_KEY_MAX 128u
#define WAIT_TIMEOUT_MAX_MS (UINT64_C(3600) * 1000)
#define WAIT_KEPT_MS (UINT64_C(60) * 1000)
#define WAIT_TEXT_MAX 4096u /* bytes of a match that are told */

#define WAIT_QUIET_MS 50u        /* after output and input, before a program is looked into */
#define WAIT_UNSURE_MS 1000u     /* of silence, before a guess is believed */
#define WAIT_PASSWORD_MS 250u    /* the same, of a terminal that does not echo */
#define WAIT_SAMPLE_MAX_MS 2000u /* between two looks into a program */
#define WAIT_SILENT_MS 500u      /* that a program which waits for input has had to answer */
#define WAIT_TRANSIT_MS 30u      /* for what was written to be there to be read */
#define WAIT_UNREAD_MS 5u  /* before it is looked again whether the holder has read what there is */
#define WAIT_SETTLE_MS 50u /* of silence, before a line that is not complete is taken for one */
#define WAIT_EDIT_MS \
	300u /* after typing at a prompt, before text that was not typed is taken for output */
#define WAIT_LATE_MS \
	2000u /* that a wait may last longer while its patterns have not read everything */
#define WAIT_WORK_HERE \
	(UINT64_C(1) << 18) /* of matching on the loop at a time, at most: see pattern_find() */
#define WAIT_TURN_MS 5u     /* between two looks whether a pattern is next to be searched for */
#define WAIT_REST \
	3u /* after a screen has been searched for a link: so many times as long as that took */

enum wait_type {
	WAIT_EXEC,
	WAIT_PROMPT,
	WAIT_INPUT,
	WAIT_MATCH,
	WAIT_STABLE, /* the screen's rows do not change */
	WAIT_IDLE,   /* there is no output */
	WAIT_BYTES,
	WAIT_EXIT,
	WAIT_PORT,  /* somebody listens there */
	WAIT_LEASE, /* nobody has an exclusive one of the keyboard */
	WAIT_TYPES,
};

/* "exec", "prompt" ... */
const char *wait_type_name(enum wait_type type);

struct wait_condition {
	enum wait_type type;
	char exec[RECORD_ID_MAX + 1]; /* WAIT_EXEC: its id */
	enum state_input kind;        /* WAIT_INPUT: STATE_INPUT_NONE is any */
	/* WAIT_INPUT: no guess, but for passwords, and only with output behind `after`. */
	bool certain;
	struct pattern *pattern; /* WAIT_MATCH */
	bool on_screen;          /* in the screen's rows; otherwise in the output as it comes */
	bool asks_for_end;       /* a line's; see log_match_asks_for_end() */
	uint64_t ms;             /* WAIT_STABLE, WAIT_IDLE */
	/*
	 * WAIT_STABLE: and what runs waits for input again, as far as that can be told. Where nothing at all has been
	 * printed behind `after` that is enough, after WAIT_SILENT_MS more.
	 */
	bool ready;
	uint64_t count; /* WAIT_BYTES */
	unsigned port;  /* WAIT_PORT */
};

struct wait_options {
	const struct wait_condition *conditions; /* their patterns are taken when wait_start() returns 0 */
	unsigned count;
	uint64_t timeout_ms;
	bool has_from; /* otherwise from now on */
	uint64_t from; /* WAIT_MATCH in the output, WAIT_BYTES */
	bool has_after; /* WAIT_PROMPT, WAIT_IDLE and WAIT_STABLE do not come before there is output behind */
	uint64_t after;       /* this */
	const char *key;      /* or NULL; those of others are others */
	uint64_t fingerprint; /* of what is asked for: the same key with another one is refused */
	struct claim *claim; /* on whose behalf it is; taken when wait_start() returns 0; NULL: the owners' */
};

/* What a wait came to. */
struct wait_result {
	int fired; /* which condition; -1: none */
	enum wait_type type; /* of it; WAIT_EXIT with fired -1: the session has ended, and nothing else will come */
	bool timed_out;  /* fired is -1 */
	uint64_t offset; /* of the end of the output then; of a match in it: where that begins */
	bool has_end;
	uint64_t end; /* behind that match */
	bool has_place;
	unsigned row, column; /* of a match on the screen, from 1 */
	uint64_t lost; /* bytes that the ring did not have any more when a pattern was to read them */
	const char *text; /* of a match, UTF-8, or NULL */
	size_t length;
	uint64_t elapsed_ms;
};

struct wait;

/* Who waits; the memory is the waiter's. One of the two is called, once; perhaps from inside wait_start(). */
struct wait_waiter {
	struct wait_waiter *prev, *next;
	struct wait *wait; /* NULL once it has been told */
	void (*done)(void *user, const struct wait_result *result);
	void (*gone)(void *user); /* the session has been deleted */
	void *user;
};

/*
 * Wait. Returns 0, -EUSERS (too many waits), -EMFILE (too many patterns, or ports), -EALREADY (the key belongs to another wait),
 * -ERANGE (from or after lies behind the output), -ENOENT (no such command), -ENOMEM. On error the waiter is not told.
 */
int wait_start(struct waits *all, const struct wait_options *options, struct wait_waiter *waiter);

/* Wait no more; harmless when told already. What has no key and nobody who waits is forgotten. */
void wait_leave(struct wait_waiter *waiter);
