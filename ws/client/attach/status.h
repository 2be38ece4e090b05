/* The status line: about the shown session, the other sessions, and the server. Pure. */
#pragma once

#include "ws/client/draw/attention.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define STATUS_ID_MAX 128u
#define STATUS_NAME_MAX 200u   /* bytes of a name that are kept */
#define STATUS_PEOPLE_MAX 120u /* bytes of the names of other clients */
#define STATUS_TEXT_MAX 1024u
#define STATUS_SESSIONS_MAX 1000u

/* What the line shows. Zeroed at first. */
struct status {
	char session[STATUS_ID_MAX + 1];
	char name[STATUS_NAME_MAX + 1];  /* "": same as the id */
	char words[ATTENTION_WORDS_MAX]; /* what runs in it */
	char people[STATUS_PEOPLE_MAX + 1], lease[STATUS_PEOPLE_MAX + 1];
	json_int_t client;   /* our number among the attached clients */
	json_int_t bells;    /* count of bells so far; -1: unknown */
	json_t *sessions;    /* all sessions, by id; owned */
	unsigned needing;    /* other sessions that need attention */
	bool draining, away; /* of the server */
	bool rung;           /* ring the terminal's bell */
};

/* Another session of the same server is shown. */
void status_begin(struct status *s, const char *session);

/* Handle a message of the terminal socket. Returns whether the line may have changed. */
bool status_handle_message(struct status *s, const json_t *message);

/* Handle an event of /api/session/events?activity=1. Returns whether the line may have changed. */
bool status_handle_event(struct status *s, const json_t *event);

/*
 * Write the line, in UTF-8. leave: the detach key, or "". The line may contain names of clients,
 * unfiltered.
 */
void status_line(const struct status *s, const char *leave, char text[STATUS_TEXT_MAX]);

/* Free what it owns. */
void status_finish(struct status *s);
