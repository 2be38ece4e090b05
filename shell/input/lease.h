/*
 * The lease of a session's keyboard: somebody says for some time that he types, and, when it is exclusive,
 * that nobody else may. Its id is a secret: who has it is the holder. Pure but for the source of ids.
 */
#pragma once

#include "shell/name.h"

#include <stdbool.h>
#include <stdint.h>

#define LEASE_ID_LENGTH 32u
#define LEASE_OWNER_MAX 64u /* bytes of the label */
#define LEASE_TTL_MIN_MS 1000u
#define LEASE_TTL_MAX_MS 3600000u
#define LEASE_TTL_DEFAULT_MS 60000u
#define LEASE_NOTE_MAX 500u /* bytes */

/* What is left for whoever comes next by who has given it back. Zero is none. */
struct lease_note {
	char text[LEASE_NOTE_MAX + 1];
	char by[LEASE_OWNER_MAX + 1]; /* a label for people */
	char author[NAME_AUTHOR_MAX + 1];
	uint64_t at_ms;
};

/* Who has it as soon as the command that runs has ended, or nobody has it before. Zero is nobody. */
struct lease_heir {
	char id[LEASE_ID_LENGTH + 1];
	char owner[LEASE_OWNER_MAX + 1];
	char author[NAME_AUTHOR_MAX + 1];
	bool exclusive;
	uint64_t ttl_ms; /* from then on */
};

/* Zero is one that nobody has. Times are wall clock. */
struct lease {
	char id[LEASE_ID_LENGTH + 1];    /* "" = nobody has it */
	char owner[LEASE_OWNER_MAX + 1]; /* a label for people */
	char author[NAME_AUTHOR_MAX + 1];
	bool exclusive;
	uint64_t since_ms, expires_ms;
	struct lease_heir heir;
	struct lease_note note; /* until the lease after it is over */
	uint64_t version;       /* counts changes that others should hear of */
};

/* What becomes of another's. */
enum lease_take {
	LEASE_TAKE_FREE,  /* it is his: -EBUSY */
	LEASE_TAKE_NOW,   /* it is over */
	LEASE_TAKE_AFTER, /* it goes on until lease_hand_over() */
};

/* What is asked for. Strings are borrowed. */
struct lease_terms {
	const char *owner, *author;
	bool exclusive;
	uint64_t ttl_ms;
	const char *renew; /* id of the lease that goes on by these terms, or NULL */
	enum lease_take take;
};

/* Whether somebody has it now. */
bool lease_is_held(const struct lease *l, uint64_t now_ms);

/*
 * Take it, or go on with it. A renewal of one that is over is a new lease, with another id, if nobody has
 * one. With LEASE_TAKE_AFTER, and another who has it, l->heir is who asks, in the place of any before. Returns 0, -EBUSY
 * when another has it, or a negative errno when there is no id to be had.
 */
int lease_take(struct lease *l, const struct lease_terms *terms, uint64_t now_ms);

/* Give it back, to the heir if there is one; or be the heir no longer. Returns false when id is neither's. */
bool lease_give_back(struct lease *l, const char *id, uint64_t now_ms);

/* Nobody has it any more, whoever had it, or was to have it. */
void lease_clear(struct lease *l);

/* Leave a note of up to LEASE_NOTE_MAX bytes. Strings are borrowed. */
void lease_leave_note(
	struct lease *l, const char *text, const char *by, const char *author, uint64_t now_ms);

/* The heir has it now. Returns whether there is one. */
bool lease_hand_over(struct lease *l, uint64_t now_ms);

/* End one that has expired: the heir has it, if there is one. Returns whether it has. */
bool lease_expire(struct lease *l, uint64_t now_ms);

/*
 * Whether one who shows this id (NULL: none) may type: not against an exclusive lease of another, and not
 * with an id whose lease is over, for then others may have typed since.
 */
bool lease_admits(const struct lease *l, const char *id, uint64_t now_ms);
