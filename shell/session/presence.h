/*
 * Presence: the clients attached to a session, which one typed last, which window sets the session's size, and whether
 * a client has the focus. A policy decides which windows count for the size; those of viewers and unknown ones never
 * do. Pure bookkeeping: nothing here sends anything.
 */
#pragma once

#include "shell/name.h"
#include "shell/role.h"

#include <stdbool.h>
#include <stdint.h>

#define PRESENCE_COLORS 8u
#define PRESENCE_SIDE_MAX 1000u /* most rows and columns of a window */

/* Which window sets the session's size. */
enum size_policy {
	SIZE_LATEST,   /* of the client that typed last; before that, of the first one */
	SIZE_SMALLEST, /* the fewest rows and the fewest columns of all */
	SIZE_FIXED,    /* of none: the size stays as it was set */
	SIZE_OWNER,    /* as latest, but only owners count */
};

/* "latest", "smallest", "fixed" or "owner". */
const char *size_policy_name(enum size_policy policy);

/* The policy of that name. Returns false if there is none. */
bool size_policy_parse(const char *name, enum size_policy *ret_policy);

/* One attached client; the client owns the memory. */
struct attendee {
	struct attendee *next;
	uint64_t id;                   /* unique in the session, never reused */
	uint64_t person_key;           /* the same for all clients of a person; 0: unknown */
	uint64_t person;               /* id of the person's first client, or its own */
	char name[NAME_BYTES_MAX + 1]; /* display name: a label */
	char author[NAME_AUTHOR_MAX + 1];
	unsigned color; /* 0 to PRESENCE_COLORS - 1 */
	enum role role;
	unsigned rows, cols;             /* its window; 0: unknown */
	unsigned later_rows, later_cols; /* a window that does not count yet; 0: none */
	uint64_t typed_ms;               /* wall clock of its last input; 0: never */
	bool focused;                    /* its terminal has the focus; set by presence_focus() */
};

/* All attendees of a session. */
struct presence {
	struct attendee *first; /* in order of arrival */
	unsigned count;
	uint64_t next_id;
	enum size_policy policy;
	/* The client that sets the size by its window; NULL: no single one. */
	struct attendee *size_by;
	bool focused;     /* a client that may type has the focus */
	uint64_t version; /* counts changes that clients are notified of */
};

/* Initialise. */
void presence_init(struct presence *p);

/* Add a, with its role and window set. Sets its id, person and colour, and clears its focus. */
void presence_join(struct presence *p, struct attendee *a);

/* Remove a; does nothing if it is not attached. Returns whether the session's focus has changed. */
bool presence_leave(struct presence *p, struct attendee *a);

/* Record that a typed at now_ms (wall clock). */
void presence_type(struct presence *p, struct attendee *a, uint64_t now_ms);

/* Set a's window; 0: unknown. */
void presence_window(struct presence *p, struct attendee *a, unsigned rows, unsigned cols);

/* Set a window that does not count until presence_apply_window(), as a may not type now. Also before a joins. */
void presence_defer_window(struct attendee *a, unsigned rows, unsigned cols);

/* Let the window of presence_defer_window() count; does nothing without one. */
void presence_apply_window(struct presence *p, struct attendee *a);

/* Change the policy. */
void presence_set_policy(struct presence *p, enum size_policy policy);

/* The size was set explicitly: no window sets it until a client types, joins, or has another window. */
void presence_clear_size(struct presence *p);

/* The size that the session should have after the changes above; false: no window sets it, so it stays. */
bool presence_size(const struct presence *p, unsigned *ret_rows, unsigned *ret_cols);

/* Set a's focus. Returns whether p->focused has changed: whether a client that may type has the focus. */
bool presence_focus(struct presence *p, struct attendee *a, bool focused);

/* Clear all focus: a program has enabled focus reports, and every terminal will report anew. */
void presence_forget_focus(struct presence *p);
