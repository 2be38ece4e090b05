/* Which sessions need attention: a rank and a description of what a session does. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Ranks, the most urgent first. */
enum attention {
	ATTENTION_INPUT,  /* a program waits for input */
	ATTENTION_CALLED, /* a bell or a notification that no person has seen */
	ATTENTION_STUCK,  /* stopped, or its holder does not respond */
	ATTENTION_RUNS,
	ATTENTION_IDLE, /* at its prompt, or unknown */
	ATTENTION_ENDED,
};

#define ATTENTION_WORDS_MAX 64u

/*
 * session: an entry of the list of sessions. state: the answer of /state, or NULL. called: it has
 * an unseen bell or notification. words: the description; it may contain names of programs,
 * unfiltered.
 */
enum attention attention_of(
	const json_t *session, const json_t *state, bool called, char words[ATTENTION_WORDS_MAX]);
