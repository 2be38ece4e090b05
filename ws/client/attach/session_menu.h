/* The sessions that can be attached, in the order of the server's list. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define SESSION_MENU_MAX 1000u

/* A list of sessions. */
struct session_menu {
	json_t *list;                             /* the server's answer; owned */
	const json_t *sessions[SESSION_MENU_MAX]; /* point into list */
	size_t count;
};

/*
 * Set from the server's answer: running sessions and the shown one, without the one that we run in
 * (here; may be NULL).
 */
void session_menu_set(struct session_menu *r, json_t *answer, const char *shown, const char *here);

/* The index of a session, or count. */
size_t session_menu_find(const struct session_menu *r, const char *id);

/*
 * The id of the next session (step 1) or the previous one (-1), cyclically; NULL: there is no
 * other. An unknown id stands before the first.
 */
const char *session_menu_step(const struct session_menu *r, const char *id, int step);

/* Free the list. */
void session_menu_finish(struct session_menu *r);
