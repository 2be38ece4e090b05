/* Which sessions need attention: a rank and a description of what a session does. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Ranks, the most urgent first. */
enum standing {
	STANDING_ASKS,  /* a program waits for input */
	STANDING_CALLS, /* a bell or a notification that no person has seen */
	STANDING_STUCK, /* stopped, or its holder does not respond */
	STANDING_RUNS,
	STANDING_IDLE, /* at its prompt, or unknown */
	STANDING_ENDED,
};

#define STANDING_WORDS_MAX 64u

/*
 * session: an entry of the list of sessions. state: the answer of /state, or NULL. called: it has
 * an unseen bell or notification. words: the description; it may contain names of programs,
 * unfiltered.
 */
enum standing standing_of(
	const json_t *session, const json_t *state, bool called, char words[STANDING_WORDS_MAX]);
