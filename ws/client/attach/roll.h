/* The sessions that can be attached, in the order of the server's list. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define ROLL_MAX 1000u

/* A list of sessions. */
struct roll {
	json_t *list;                     /* the server's answer; owned */
	const json_t *sessions[ROLL_MAX]; /* point into list */
	size_t count;
};

/*
 * Set from the server's answer: running sessions and the shown one, without the one that we run in
 * (here; may be NULL).
 */
void roll_take(struct roll *r, json_t *answer, const char *shown, const char *here);

/* The index of a session, or count. */
size_t roll_find(const struct roll *r, const char *id);

/*
 * The id of the next session (step 1) or the previous one (-1), cyclically; NULL: there is no
 * other. An unknown id stands before the first.
 */
const char *roll_step(const struct roll *r, const char *id, int step);

/* Free the list. */
void roll_finish(struct roll *r);
