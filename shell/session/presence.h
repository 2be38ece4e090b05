/*
 * Presence: who is attached to a session, who typed last, whose window gives the session its size, and
 * whether anybody has it in focus.
 *
 * A policy says which windows count for the size. Those of viewers never do, nor do unknown ones. Pure
 * bookkeeping: nothing here sends anything.
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

/* Whose window is the session's size. */
enum size_policy {
	SIZE_LATEST,   /* of whoever typed last; before anybody has, of whoever came first */
	SIZE_SMALLEST, /* the fewest rows and the fewest columns of all */
	SIZE_FIXED,    /* nobody's: it stays as it was set */
	SIZE_OWNER,    /* as latest, but only owners count */
};

/* "latest", "smallest", "fixed" or "owner". */
const char *size_policy_name(enum size_policy policy);

/* The policy of that name. Returns false when there is none. */
bool size_policy_parse(const char *name, enum size_policy *ret_policy);

/* One attached client; the memory is the client's own. */
struct attendee {
	struct attendee *next;
	uint64_t id;         /* unique in the session, never reused */
	uint64_t person_key; /* the same for all clients of somebody; 0: of nobody that is known */
	uint64_t person;     /* id of the first of them that was there when it came, or its own */
	char name[NAME_BYTES_MAX + 1]; /* display name: a label */
	char author[NAME_AUTHOR_MAX + 1];
	unsigned color; /* 0 to PRESENCE_COLORS - 1 */
	enum role role;
	unsigned rows, cols;             /* its window; 0 = unknown */
	unsigned later_rows, later_cols; /* one that counts once it may; 0 = none */
	uint64_t typed_ms;               /* wall clock of its last input; 0 = never */
	bool focused; /* its terminal has the keyboard's focus; set by presence_focus() */
};

struct presence {
	struct attendee *first; /* in order of arrival */
	unsigned count;
	uint64_t next_id;
	enum size_policy policy;
	struct attendee *size_by; /* whose window is the size, or NULL: nobody's alone */
	bool focused;             /* one that may type has the focus */
	uint64_t version;         /* counts changes that others should hear of */
};

void presence_init(struct presence *p);

/* Add a, with the role and the window that it has; fills its id, person and colour, and it has no focus. */
void presence_join(struct presence *p, struct attendee *a);

/* Remove a; harmless when it is not there. Returns whether the session has lost the focus with it. */
bool presence_leave(struct presence *p, struct attendee *a);

/* a has typed at now_ms (wall clock). */
void presence_type(struct presence *p, struct attendee *a, uint64_t now_ms);

/* a has another window; 0 = unknown. */
void presence_window(struct presence *p, struct attendee *a, unsigned rows, unsigned cols);

/*
 * a's window does not count yet, as it may not: presence_window_now() says that it may, and is harmless otherwise. Before
 * a has joined that is the window that it comes with.
 */
void presence_window_later(struct attendee *a, unsigned rows, unsigned cols);
void presence_window_now(struct presence *p, struct attendee *a);

/* Other windows count from now on. */
void presence_set_policy(struct presence *p, enum size_policy policy);

/* The size has been set by no window: nobody holds it until somebody types, comes, or has another window. */
void presence_let_go(struct presence *p);

/*
 * The size that the session should have now, to be asked for after each of the above. Returns false when
 * nobody's window says: then it keeps the one that it has.
 */
bool presence_size(const struct presence *p, unsigned *ret_rows, unsigned *ret_cols);

/*
 * a's terminal has, or has no longer, the focus. Returns whether the focus of the session has changed:
 * the session, which is p->focused, has it as long as one that may type has it.
 */
bool presence_focus(struct presence *p, struct attendee *a, bool focused);

/* Nobody is known to have the focus: a program asks for it anew, and every terminal will say. */
void presence_forget_focus(struct presence *p);
