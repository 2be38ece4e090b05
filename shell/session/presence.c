/*
 * A list of attendees, and the one that sets the size by its window, or none. A new one is chosen only when the policy
 * requires it. Allocates nothing and cannot fail.
 */
#include "shell/session/presence.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

static const char *const policies[] = {
	[SIZE_LATEST] = "latest", [SIZE_SMALLEST] = "smallest", [SIZE_FIXED] = "fixed", [SIZE_OWNER] = "owner"};

const char *size_policy_name(enum size_policy policy)
{
	return policies[policy];
}

bool size_policy_parse(const char *name, enum size_policy *ret_policy)
{
	for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++) {
		if (strcmp(policies[i], name) == 0) {
			*ret_policy = (enum size_policy)i;
			return true;
		}
	}
	return false;
}

void presence_init(struct presence *p)
{
	*p = (struct presence){.next_id = 1};
}

/* The least used colour. */
static unsigned pick_color(const struct presence *p)
{
	unsigned used[PRESENCE_COLORS] = {0}, best = 0;
	for (const struct attendee *a = p->first; a; a = a->next)
		used[a->color]++;
	for (unsigned i = 1; i < PRESENCE_COLORS; i++)
		if (used[i] < used[best])
			best = i;
	return best;
}

static bool can_type(const struct attendee *a)
{
	return a->role != ROLE_VIEWER;
}

static bool window_counts(const struct presence *p, const struct attendee *a)
{
	if (p->policy == SIZE_FIXED || a->rows == 0 || a->cols == 0)
		return false;
	return p->policy == SIZE_OWNER ? a->role == ROLE_OWNER : can_type(a);
}

/* The fewest rows and columns of the windows that count; false if none does. */
static bool smallest_size(const struct presence *p, unsigned *ret_rows, unsigned *ret_cols)
{
	unsigned rows = UINT_MAX, cols = UINT_MAX;
	for (const struct attendee *a = p->first; a; a = a->next) {
		if (!window_counts(p, a))
			continue;
		rows = a->rows < rows ? a->rows : rows;
		cols = a->cols < cols ? a->cols : cols;
	}
	if (rows == UINT_MAX)
		return false;
	*ret_rows = rows;
	*ret_cols = cols;
	return true;
}

/* The attendee with the smallest window; NULL if no window has both the fewest rows and columns. */
static struct attendee *find_smallest(const struct presence *p)
{
	unsigned rows = 0, cols = 0;
	if (!smallest_size(p, &rows, &cols))
		return NULL;
	for (struct attendee *a = p->first; a; a = a->next)
		if (window_counts(p, a) && a->rows == rows && a->cols == cols)
			return a;
	return NULL;
}

/* Of those that count, the attendee that typed last, or else the first in the list. */
static struct attendee *find_latest(const struct presence *p)
{
	struct attendee *best = NULL;
	for (struct attendee *a = p->first; a; a = a->next)
		if (window_counts(p, a) && (!best || a->typed_ms > best->typed_ms))
			best = a;
	return best;
}

static void set_size_by(struct presence *p, struct attendee *a)
{
	if (p->size_by == a)
		return;
	p->size_by = a;
	p->version++;
}

/* Choose anew by the policy. */
static void choose(struct presence *p)
{
	set_size_by(p, p->policy == SIZE_SMALLEST ? find_smallest(p) : find_latest(p));
}

/* Update the choice after a has joined or has another window. */
static void consider(struct presence *p, struct attendee *a)
{
	if (p->policy == SIZE_SMALLEST || (p->size_by == a && !window_counts(p, a)))
		choose(p);
	else if (!p->size_by && window_counts(p, a))
		set_size_by(p, a);
}

/* Returns whether the focus has changed. */
static bool update_focus(struct presence *p)
{
	bool before = p->focused;
	p->focused = false;
	for (const struct attendee *a = p->first; a; a = a->next)
		p->focused |= a->focused && can_type(a);
	return p->focused != before;
}

/* Another client of the same person, or NULL. */
static const struct attendee *find_same(const struct presence *p, const struct attendee *a)
{
	for (const struct attendee *other = p->first; other && a->person_key > 0;
		other = other->next)
		if (other->person_key == a->person_key)
			return other;
	return NULL;
}

void presence_join(struct presence *p, struct attendee *a)
{
	struct attendee **end = &p->first;
	const struct attendee *same = find_same(p, a);
	a->color = same ? same->color : pick_color(p);
	a->id = p->next_id++;
	a->person = same ? same->person : a->id;
	a->focused = false;
	a->next = NULL;
	while (*end)
		end = &(*end)->next;
	*end = a;
	p->count++;
	p->version++;
	consider(p, a);
}

bool presence_leave(struct presence *p, struct attendee *a)
{
	struct attendee **at = &p->first;
	while (*at && *at != a)
		at = &(*at)->next;
	if (!*at)
		return false;
	*at = a->next;
	p->count--;
	p->version++;
	if (p->policy == SIZE_SMALLEST || p->size_by == a)
		choose(p);
	return update_focus(p);
}

void presence_type(struct presence *p, struct attendee *a, uint64_t now_ms)
{
	/* Report typing at the first key and then once a second. */
	if (now_ms - a->typed_ms >= 1000)
		p->version++;
	a->typed_ms = now_ms;
	if (p->policy != SIZE_SMALLEST && window_counts(p, a))
		set_size_by(p, a);
}

void presence_window(struct presence *p, struct attendee *a, unsigned rows, unsigned cols)
{
	a->rows = rows;
	a->cols = cols;
	a->later_rows = a->later_cols = 0;
	consider(p, a);
}

void presence_defer_window(struct attendee *a, unsigned rows, unsigned cols)
{
	a->later_rows = rows;
	a->later_cols = cols;
}

void presence_apply_window(struct presence *p, struct attendee *a)
{
	if (a->later_rows > 0)
		presence_window(p, a, a->later_rows, a->later_cols);
}

void presence_set_policy(struct presence *p, enum size_policy policy)
{
	if (p->policy != policy)
		p->version++;
	p->policy = policy;
	choose(p);
}

void presence_clear_size(struct presence *p)
{
	set_size_by(p, NULL);
}

bool presence_size(const struct presence *p, unsigned *ret_rows, unsigned *ret_cols)
{
	if (p->policy == SIZE_SMALLEST)
		return smallest_size(p, ret_rows, ret_cols);
	if (!p->size_by)
		return false;
	*ret_rows = p->size_by->rows;
	*ret_cols = p->size_by->cols;
	return true;
}

bool presence_focus(struct presence *p, struct attendee *a, bool focused)
{
	a->focused = focused;
	return update_focus(p);
}

void presence_forget_focus(struct presence *p)
{
	for (struct attendee *a = p->first; a; a = a->next)
		a->focused = false;
	p->focused = false;
}
