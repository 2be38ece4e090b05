/* Where somebody is in a session's history, and what has been found there. Pure. */
#pragma once

#include "ws/client/draw/key.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAST_FOUND_MAX 1000u /* matches; those that are older are looked for no more */

struct past_match {
	uint64_t line;
	unsigned column, columns;
};

/* Lines have numbers from the session's birth on. Zeroed: nothing is there. */
struct past {
	uint64_t first, end;                     /* the lines there are; end: behind the last */
	uint64_t top;                            /* the first that is shown, */
	unsigned rows;                           /* of so many */
	struct past_match found[PAST_FOUND_MAX]; /* from the newest to the oldest */
	size_t found_count, at;                  /* at: the one that is looked at */
};

/* Those are the lines there are now, of which so many are shown; what is shown stays, as far as it is there. */
void past_extend(struct past *p, uint64_t first, uint64_t end, unsigned rows);

/* They have other numbers now: what was so far from the end is shown, and what was found is forgotten. */
void past_renumber(struct past *p, uint64_t first, uint64_t end, unsigned rows);

/* Show what a key wants to see. Returns false where it is shown already, or the key is none of movement. */
bool past_move(struct past *p, enum key key);

/*
 * Take what a search has found, as the server answers it, and show the newest match that is not below what is shown; or
 * else the oldest. Returns whether there is one.
 */
bool past_find(struct past *p, const json_t *answer);

/* Show the match that is older by so many, or newer. Returns false where there is none. */
bool past_step(struct past *p, int by);
