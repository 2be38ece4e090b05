/* The position of a view in a session's scrollback, and the matches of a search. Pure. */
#pragma once

#include "ws/client/draw/key.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAST_FOUND_MAX 1000u /* matches that are kept, the newest ones */

/* A match. */
struct past_match {
	uint64_t line;
	unsigned column, columns;
};

/* Lines are numbered from the session's birth on. Zeroed: no lines. */
struct past {
	uint64_t first, end;                     /* first line, and the one behind the last */
	uint64_t top;                            /* first visible line */
	unsigned rows;                           /* visible lines */
	struct past_match found[PAST_FOUND_MAX]; /* the newest first */
	size_t found_count, at;                  /* at: the current match */
};

/* Set which lines exist and how many are visible. The visible lines stay if they exist. */
void past_extend(struct past *p, uint64_t first, uint64_t end, unsigned rows);

/* The lines have new numbers: keep the distance from the end, and forget the matches. */
void past_renumber(struct past *p, uint64_t first, uint64_t end, unsigned rows);

/* Move by a key. Returns whether the position has changed. */
bool past_move(struct past *p, enum key key);

/*
 * Set the matches from the server's answer, and show the newest one that is not below the visible
 * lines, or else the oldest. Returns whether there is a match.
 */
bool past_find(struct past *p, const json_t *answer);

/* Show the match that is by places older, or newer if by < 0. Returns false if there is none. */
bool past_step(struct past *p, int by);
