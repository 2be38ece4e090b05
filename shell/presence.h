/*
 * Presence: who is attached to a session, who typed last, and whose window gives the session its size.
 *
 * The size follows whoever typed last; before anybody has, whoever came first. Viewers never count,
 * nor do clients whose window is unknown. Pure bookkeeping: nothing here sends anything.
 */
#pragma once

#include "shell/name.h"

#include <stdbool.h>
#include <stdint.h>

#define PRESENCE_COLORS 8u
#define PRESENCE_SIDE_MAX 1000u /* rows and columns of a window: 1 to this */

enum role { ROLE_VIEWER, ROLE_DRIVER, ROLE_OWNER };

/* "viewer", "driver" or "owner". */
const char *role_name(enum role role);

/* One attached client; the memory is the client's own. */
struct attendee {
	struct attendee *next;
	uint64_t id;                   /* unique in the session, never reused */
	char name[NAME_BYTES_MAX + 1]; /* display name */
	unsigned color;                /* 0 to PRESENCE_COLORS - 1 */
	enum role role;
	unsigned rows, cols; /* its window; 0 = unknown */
	uint64_t typed_ms;   /* wall clock of its last input; 0 = never */
	bool ready;          /* it has caught up with its history */
};

struct presence {
	struct attendee *first; /* in order of arrival */
	unsigned count;
	uint64_t next_id;
	struct attendee *holder; /* whose window counts, or NULL */
	uint64_t version;        /* counts changes that others should hear of */
};

void presence_init(struct presence *p);

/* Add a; fills its id and colour. */
void presence_join(struct presence *p, struct attendee *a);

/* Remove a. Another takes over the size if a held it. */
void presence_leave(struct presence *p, struct attendee *a);

/* a has typed at now_ms. Returns whether the size's holder is now another. */
bool presence_type(struct presence *p, struct attendee *a, uint64_t now_ms);

/* a's window has changed. Returns whether the session should take its size. */
bool presence_window(struct presence *p, struct attendee *a, unsigned rows, unsigned cols);

/* Who answers live terminal queries: one that may type and has caught up; NULL if there is none. */
struct attendee *presence_responder(const struct presence *p);
