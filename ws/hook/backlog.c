/* A list of references to events. If memory is short, an event is dropped and counted. */
#include "ws/hook/backlog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct backlog_item {
	struct backlog_item *prev, *next;
	struct hook_event *event;
	uint64_t added_ms;
	unsigned tries;
};

static void drop(struct backlog *b, struct backlog_item *item)
{
	DL_DELETE(b->items, item);
	b->counts.waiting--;
	hook_event_unref(item->event);
	free(item);
}

/* The oldest event that is not being sent, or NULL. */
static struct backlog_item *first_waiting(const struct backlog *b)
{
	return b->items && b->out ? b->items->next : b->items;
}

/* Whether e is a bell or a notification, and one of the same session waits already. */
static bool can_merge(const struct backlog *b, const struct hook_event *e)
{
	if (e->kind != HOOK_BELL && e->kind != HOOK_NOTIFICATION)
		return false;
	for (const struct backlog_item *i = first_waiting(b); i; i = i->next)
		if (i->event->kind == e->kind && strcmp(i->event->session, e->session) == 0)
			return true;
	return false;
}

/* The oldest waiting event of a session that has HOOK_SESSION_WAITING_MAX of them; otherwise NULL. */
static struct backlog_item *over_share(const struct backlog *b, const char *session)
{
	struct backlog_item *oldest = NULL;
	unsigned count = 0;
	for (struct backlog_item *i = first_waiting(b); i; i = i->next) {
		if (strcmp(i->event->session, session) != 0)
			continue;
		oldest = oldest ? oldest : i;
		count++;
	}
	return count >= HOOK_SESSION_WAITING_MAX ? oldest : NULL;
}

void backlog_add(struct backlog *b, struct hook_event *e, uint64_t now_ms)
{
	b->counts.told++;
	if (can_merge(b, e)) {
		b->counts.merged++;
		return;
	}
	struct backlog_item *item = b->unwanted ? NULL : malloc(sizeof *item);
	if (!item) {
		b->counts.dropped++;
		return;
	}
	struct backlog_item *victim = over_share(b, e->session);
	if (!victim && b->counts.waiting == HOOK_WAITING_MAX)
		victim = first_waiting(b);
	if (victim) {
		drop(b, victim);
		b->counts.dropped++;
	}
	*item = (struct backlog_item){.event = hook_event_ref(e), .added_ms = now_ms};
	DL_APPEND(b->items, item);
	b->counts.waiting++;
}

const struct hook_event *backlog_begin(struct backlog *b, uint64_t now_ms, uint64_t *ret_wait_ms)
{
	*ret_wait_ms = UINT64_MAX;
	assert(!b->out);
	while (b->items && now_ms - b->items->added_ms > HOOK_AGE_MAX_MS) {
		drop(b, b->items);
		b->counts.given_up++;
	}
	if (!b->items)
		return NULL;
	if (now_ms < b->due_ms) {
		*ret_wait_ms = b->due_ms - now_ms;
		return NULL;
	}
	b->out = true;
	b->items->tries++;
	b->counts.tries++;
	return b->items->event;
}

/* Time until the next try, in ms. */
static uint64_t pause_of(const struct backlog *b, const struct backlog_answer *a)
{
	uint64_t pause = HOOK_PAUSE_MS;
	for (unsigned i = 1; i < b->failures && pause < HOOK_PAUSE_MAX_MS; i++)
		pause *= 2;
	if (pause > HOOK_PAUSE_MAX_MS)
		pause = HOOK_PAUSE_MAX_MS;
	pause += pause * (a->random & 255) / 1024; /* jitter, as many servers may retry at once */
	uint64_t asked = a->retry_after_ms < HOOK_RETRY_AFTER_MAX_MS ? a->retry_after_ms
								     : HOOK_RETRY_AFTER_MAX_MS;
	return asked > pause ? asked : pause;
}

/* The outcome of a status that is not 2xx, regardless of the number of tries. */
static enum backlog_outcome outcome_of(int status)
{
	if (status == 410)
		return BACKLOG_UNWANTED;
	if (status < 300 || status >= 500 || status == 408 || status == 425 || status == 429)
		return BACKLOG_AGAIN;
	return BACKLOG_REFUSED;
}

enum backlog_outcome backlog_end(struct backlog *b, const struct backlog_answer *a, uint64_t now_ms)
{
	assert(b->out);
	b->out = false;
	if (a->status >= 200 && a->status < 300) {
		b->failures = 0;
		b->due_ms = 0;
		b->counts.arrived++;
		drop(b, b->items);
		return BACKLOG_ARRIVED;
	}
	b->failures++;
	b->counts.failed++;
	enum backlog_outcome outcome = outcome_of(a->status);
	if (outcome == BACKLOG_UNWANTED) {
		b->unwanted = true;
		b->counts.dropped += backlog_finish(b);
		return outcome;
	}
	if (outcome == BACKLOG_AGAIN && b->items->tries >= HOOK_TRIES)
		outcome = BACKLOG_GIVEN_UP;
	if (outcome == BACKLOG_REFUSED)
		b->failures = 0; /* the receiver works, so try the next event at once */
	else
		b->due_ms = now_ms + pause_of(b, a);
	if (outcome != BACKLOG_AGAIN) {
		drop(b, b->items);
		b->counts.given_up++;
	}
	return outcome;
}

unsigned backlog_finish(struct backlog *b)
{
	unsigned count = b->counts.waiting;
	while (b->items)
		drop(b, b->items);
	b->out = false;
	return count;
}
