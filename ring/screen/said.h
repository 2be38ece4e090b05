/*
 * What a screen says while it takes output, its answers and its events, kept in their order until they can be told: a
 * screen may be followed on one thread, and be listened to on another.
 */
#pragma once

#include "ring/screen/screen.h"

#include <stddef.h>
#include <stdint.h>

#define SAID_MAX ((size_t)4 << 20) /* bytes that are kept; what comes then is lost, and counted */

struct said {
	uint8_t *bytes; /* owned; NULL while there is nothing */
	size_t length, capacity;
	size_t bell;   /* where the last is a bell that nothing came behind, and one; 0: none */
	uint64_t lost; /* ever */
};

/* Keep one. Bells that come one behind the other are one. */
void said_reply(struct said *s, const char *bytes, size_t length);
void said_event(struct said *s, const struct screen_event *event);

/* Tell all that there is, and forget it. */
void said_tell(struct said *s, const struct screen_callbacks *callbacks, void *user);

void said_finish(struct said *s);
