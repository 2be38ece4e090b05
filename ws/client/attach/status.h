/* What the status line says: of the session that is shown, of the others, and of the server. Pure. */
#pragma once

#include "ws/client/draw/standing.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define STATUS_ID_MAX 128u
#define STATUS_NAME_MAX 200u   /* bytes of a name that are kept */
#define STATUS_PEOPLE_MAX 120u /* of those who are there as well */
#define STATUS_TEXT_MAX 1024u
#define STATUS_SESSIONS_MAX 1000u

struct status {
	char session[STATUS_ID_MAX + 1];
	char name[STATUS_NAME_MAX + 1]; /* "": it is the id */
	char words[STANDING_WORDS_MAX]; /* what it is at */
	char people[STATUS_PEOPLE_MAX + 1], lease[STATUS_PEOPLE_MAX + 1];
	json_int_t client;   /* we, among those who are attached */
	json_int_t bells;    /* that it has rung in all; -1: not known */
	json_t *sessions;    /* owned: the server's, by their ids */
	unsigned needing;    /* others that need somebody */
	bool draining, away; /* the server */
	bool rung;           /* the session has, and nobody has been told */
};

/* Another session is shown, of the same server. */
void status_begin(struct status *s, const char *session);

/* Take a message of the terminal socket. Returns whether the line may have changed. */
bool status_take_message(struct status *s, const json_t *message);

/* Take an event of /api/session/events?activity=1, likewise. */
bool status_take_event(struct status *s, const json_t *event);

/* The line, in UTF-8. It may have whatever others have called themselves in it. */
void status_line(const struct status *s, const char *leave, char text[STATUS_TEXT_MAX]);

void status_finish(struct status *s);
