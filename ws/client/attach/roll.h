/* The sessions of a server that can be shown, in the order in which it lists them. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define ROLL_MAX 1000u

struct roll {
	json_t *list; /* owned: the server's */
	const json_t *sessions[ROLL_MAX];
	size_t count;
};

/* Take a list of sessions: those that run, and the one that is shown; none that is here, where we are ourselves (or NULL). */
void roll_take(struct roll *r, json_t *answer, const char *shown, const char *here);

/* Where that one stands, or count. */
size_t roll_find(const struct roll *r, const char *id);

/* The one that stands so many places behind it, around, or NULL where there is no other; an unknown one is before the first. */
const char *roll_step(const struct roll *r, const char *id, int step);

void roll_finish(struct roll *r);
