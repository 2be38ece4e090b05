/*
 * The lease of a session's keyboard: a client announces that it types for some time and, if the
 * lease is exclusive, that no other client may. The id is a secret that proves ownership. Pure,
 * except that ids are random.
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

/* A message from the last owner to the next one. Zero is none. */
struct lease_note {
	char text[LEASE_NOTE_MAX + 1];
	char by[LEASE_OWNER_MAX + 1]; /* a label for people */
	char author[NAME_AUTHOR_MAX + 1];
	uint64_t at_ms;
};

/* The next owner, once the running command has ended or the lease is over. Zero is none. */
struct lease_heir {
	char id[LEASE_ID_LENGTH + 1];
	char owner[LEASE_OWNER_MAX + 1];
	char author[NAME_AUTHOR_MAX + 1];
	bool exclusive;
	uint64_t ttl_ms; /* from that time on */
};

/* A keyboard's lease. Zero is free. Times are wall clock. */
struct lease {
	char id[LEASE_ID_LENGTH + 1];    /* "": free */
	char owner[LEASE_OWNER_MAX + 1]; /* a label for people */
	char author[NAME_AUTHOR_MAX + 1];
	bool exclusive;
	uint64_t since_ms, expires_ms;
	struct lease_heir heir;
	struct lease_note note; /* until the next lease is over */
	uint64_t version;       /* counts changes */
};

/* What lease_acquire() does if the lease has another owner. */
enum lease_acquire {
	LEASE_ACQUIRE_IF_FREE, /* fail with -EBUSY */
	LEASE_ACQUIRE_NOW,     /* replace the owner */
	LEASE_ACQUIRE_AFTER,   /* become the heir; the owner stays until lease_hand_over() */
};

/* Arguments of lease_acquire(). Strings are borrowed. */
struct lease_terms {
	const char *owner, *author;
	bool exclusive;
	uint64_t ttl_ms;
	const char *renew; /* id of the lease to renew, or NULL */
	enum lease_acquire take;
};

/* Whether the lease has an owner now. */
bool lease_is_held(const struct lease *l, uint64_t now_ms);

/*
 * Acquire or renew the lease. Renewing an expired lease acquires a new one, with another id, if it
 * is free. With LEASE_ACQUIRE_AFTER and another owner the heir is set, replacing an earlier one.
 * Returns 0, -EBUSY when it has another owner, or a negative errno when no id could be made.
 */
int lease_acquire(struct lease *l, const struct lease_terms *terms, uint64_t now_ms);

/* Release the lease, to the heir if any; or stop being the heir. False if id is neither's. */
bool lease_release(struct lease *l, const char *id, uint64_t now_ms);

/* Make the lease free, without heir and note. */
void lease_clear(struct lease *l);

/* Set the note; text is up to LEASE_NOTE_MAX bytes. Strings are borrowed. */
void lease_leave_note(
	struct lease *l, const char *text, const char *by, const char *author, uint64_t now_ms);

/* Make the heir the owner. Returns false if there is no heir. */
bool lease_hand_over(struct lease *l, uint64_t now_ms);

/* If the lease has expired, give it to the heir or make it free. Returns whether it has expired. */
bool lease_expire(struct lease *l, uint64_t now_ms);

/*
 * Whether a client with this id (NULL: none) may type: not if another client has an exclusive
 * lease, and not with the id of a lease that is over, because other clients may have typed since.
 */
bool lease_allows(const struct lease *l, const char *id, uint64_t now_ms);
