/* Who needs attention: what a session is at, as a place in an order and in words. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* From those that need somebody most. */
enum standing {
	STANDING_ASKS,  /* a program waits for somebody to type */
	STANDING_CALLS, /* it has rung, or sent a notification, since somebody was there */
	STANDING_STUCK, /* stopped, or does not answer */
	STANDING_RUNS,
	STANDING_IDLE, /* at its prompt, or nothing is known of it */
	STANDING_ENDED,
};

#define STANDING_WORDS_MAX 64u

/*
 * session: as a list of sessions has it; state: as /state tells it, or NULL. words: what to say of it, which may have
 * whatever a program is called in it.
 */
enum standing standing_of(
	const json_t *session, const json_t *state, bool called, char words[STANDING_WORDS_MAX]);
