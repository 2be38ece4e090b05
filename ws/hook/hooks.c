/* Makes an event of each change of a state and each journal entry that is worth one. It keeps no data of sessions. */
#include "ws/hook/hooks.h"

#include "shell/block/blocks.h"
#include "shell/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct hooks {
	struct courier *courier;
	const char *const *url;
	bool begun;
};

int hooks_open(uv_loop_t *loop, const struct hooks_options *o,
	const struct courier_callbacks *callbacks, void *user, struct hooks **ret_hooks)
{
	struct hooks *h = calloc(1, sizeof *h);
	if (!h)
		return -ENOMEM;
	h->url = o->url;
	int rc = courier_open(loop, &o->courier, callbacks, user, &h->courier);
	if (rc < 0) {
		free(h);
		return rc;
	}
	*ret_hooks = h;
	return 0;
}

static void send_event(struct hooks *h, const struct activity *a, struct hook_contents *m)
{
	m->session = session_id(a->session);
	m->epoch = session_epoch(a->session);
	m->clients = session_presence(a->session)->count;
	m->url = *h->url;
	struct hook_event *e = hook_event_create(m);
	if (e)
		courier_send(h->courier, e);
	else
		courier_count_dropped(h->courier);
	hook_event_unref(e);
}

/* The author of a command, or NULL. */
static const char *author_of(const struct block *b)
{
	return b->author && b->author[0] ? b->author : NULL;
}

/* Whether a session waits for a person. An editor or a pager in full screen waits for keys too, but asks nothing. */
static bool waits(const struct activity *a)
{
	return a->status == STATE_WAITING_INPUT || a->input == STATE_INPUT_PASSWORD ||
		(a->status == STATE_STARTING && a->input != STATE_INPUT_NONE);
}

void hooks_report_state(struct hooks *h, const struct activity *a)
{
	char id[BLOCK_ID_MAX + 1];
	if (!h || !h->begun || !waits(a))
		return;
	const struct block *b = blocks_running(session_blocks(a->session));
	struct hook_contents m = {.kind = a->input == STATE_INPUT_PASSWORD ? HOOK_PASSWORD
			: a->input == STATE_INPUT_LINE                     ? HOOK_LINE
									   : HOOK_KEY,
		.at_ms = a->since_ms,
		.status = -1};
	if (b) {
		block_id(b, id);
		m.block = id;
		m.author = author_of(b);
	}
	send_event(h, a, &m);
}

void hooks_begin(struct hooks *h, const struct sessions *sessions, const struct activities *all)
{
	if (!h)
		return;
	h->begun = true;
	for (struct session *s = NULL; (s = session_next(sessions, s));) {
		const struct activity *a = activities_find(all, s);
		if (a && a->looked)
			hooks_report_state(h, a);
	}
}

static void send_command(
	struct hooks *h, const struct activity *a, const struct journal_entry *entry)
{
	char id[BLOCK_ID_MAX + 1];
	snprintf(id, sizeof id, "b%" PRIu64, entry->block);
	const struct block *b = blocks_find(session_blocks(a->session), id);
	struct hook_contents m = {.block = id, .at_ms = entry->at_ms};
	if (!b || !b->done)
		return;
	const struct hook_command command = {.by_program = b->exec[0] != '\0',
		.status = b->status,
		.started_ms = b->started_ms,
		.ended_ms = b->ended_ms};
	if (!hook_command_get_kind(&command, &m.kind))
		return;
	m.status = b->status;
	m.author = author_of(b);
	send_event(h, a, &m);
}

void hooks_report_entry(struct hooks *h, const struct activity *a, const struct journal_entry *entry)
{
	struct hook_contents m = {.at_ms = entry->at_ms, .status = -1};
	if (!h)
		return;
	switch (entry->type) {
	case JOURNAL_BLOCK_ENDED:
		send_command(h, a, entry);
		return;
	case JOURNAL_BELL:
	case JOURNAL_NOTIFICATION:
		m.kind = entry->type == JOURNAL_BELL ? HOOK_BELL : HOOK_NOTIFICATION;
		send_event(h, a, &m);
		return;
	default:
		return;
	}
}

bool hooks_get_counts(struct hooks *h, struct backlog_counts *ret_counts)
{
	if (h)
		courier_get_counts(h->courier, ret_counts);
	return h != NULL;
}

unsigned hooks_close(struct hooks *h)
{
	unsigned lost = h ? courier_close(h->courier) : 0;
	free(h);
	return lost;
}
