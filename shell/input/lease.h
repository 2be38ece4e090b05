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

/* Zero is one that nobody has. Times are wall clock. */
struct lease {
	char id[LEASE_ID_LENGTH + 1];    /* "" = nobody has it */
	char owner[LEASE_OWNER_MAX + 1]; /* a label for people */
	char author[NAME_AUTHOR_MAX + 1];
	bool exclusive;
	uint64_t since_ms, expires_ms;
	uint64_t version; /* counts changes that others should hear of */
};

/* What is asked for. Strings are borrowed. */
struct lease_terms {
	const char *owner, *author;
	bool exclusive;
	uint64_t ttl_ms;
	const char *renew; /* id of the lease that goes on by these terms, or NULL */
};

/* Whether somebody has it now. */
bool lease_is_held(const struct lease *l, uint64_t now_ms);

/*
 * Take it, or go on with it. A renewal of one that is over is a new lease, with another id, if nobody has
 * one. Returns 0, -EBUSY when another has it, or a negative errno when there is no id to be had.
 */
int lease_take(struct lease *l, const struct lease_terms *terms, uint64_t now_ms);

/* Give it back. Returns false when id is not that of the present one. */
bool lease_give_back(struct lease *l, const char *id, uint64_t now_ms);

/* Nobody has it any more, whoever had it. */
void lease_clear(struct lease *l);

/* Clear one that has expired. Returns whether it has. */
bool lease_expire(struct lease *l, uint64_t now_ms);

/*
 * Whether one who shows this id (NULL: none) may type: not against an exclusive lease of another, and not
 * with an id whose lease is over, for then others may have typed since.
 */
bool lease_admits(const struct lease *l, const char *id, uint64_t now_ms);
