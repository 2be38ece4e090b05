/*
 * The events of one session, each with its offset, in the order of the output. A reader has
 * positions in the history and in the journal but no queue: a slow one gets a gap event.
 */
#include "shell/wait/state.h"
#include "ws/api/api.h"
#include "ws/api/later/event_queue.h"
#include "ws/json/block.h"
#include "ws/json/session.h"
#include "ws/json/state.h"
#include "ws/api/later/pending.h"
#include "ws/api/read/query.h"
#include "ws/api/rows.h"
#include "ws/base64.h"
#include "ws/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)SCAN_STRING_MAX + 16384) /* maximum bytes of output in an event */
#define QUIET_MS 100u                           /* without output; then check the state */
#define LOOK_MS 1000u                           /* and again while a program runs */
#define TYPES_MAX 128u                          /* bytes of the list of types */

enum topic {
	TOPIC_OUTPUT,
	TOPIC_STATE,
	TOPIC_BLOCK,
	TOPIC_TITLE,
	TOPIC_CWD,
	TOPIC_BELL,
	TOPIC_NOTIFICATION,
	TOPIC_SIZE,
	TOPIC_PRESENCE,
	TOPIC_EXIT,
};

static const char *const names[] = {[TOPIC_OUTPUT] = "output",
	[TOPIC_STATE] = "state",
	[TOPIC_BLOCK] = "block",
	[TOPIC_TITLE] = "title",
	[TOPIC_CWD] = "cwd",
	[TOPIC_BELL] = "bell",
	[TOPIC_NOTIFICATION] = "notification",
	[TOPIC_SIZE] = "resize",
	[TOPIC_PRESENCE] = "presence",
	[TOPIC_EXIT] = "exit"};

struct follower {
	struct pending pending;
	struct session *session; /* NULL after its deletion */
	struct journal_watcher watcher;
	unsigned types; /* bits of enum topic */
	bool base64;
	bool stops; /* at the current end, instead of waiting for more */
	struct history_cursor cursor;
	uint64_t entry; /* next entry of the journal */
	uint64_t from;  /* first offset: skip older entries */
	uint64_t presence;
	struct pane_state *state; /* the last state sent */
	bool state_due, begun, over;
	struct text_decoder decoder;
	struct event_queue queue; /* events of the last step */
};

static bool wants(const struct follower *f, enum topic type)
{
	return (f->types & 1u << type) != 0;
}

static void put_event(struct follower *f, json_t *event, uint64_t offset)
{
	if (event)
		json_object_set_new(event, "offset", json_integer((json_int_t)offset));
	event_queue_put(&f->queue, event, 0);
}

/* Events */

static void put_begin(struct follower *f)
{
	char epoch[17];
	struct session *s = f->session;
	snprintf(epoch, sizeof epoch, "%016" PRIx64, session_epoch(s));
	f->begun = true;
	put_event(f,
		json_pack("{s:s, s:s, s:s, s:I}", "type", "begin", "sessionId", session_id(s),
			"epoch", epoch, "eventsFrom", (json_int_t)session_journal(s)->since),
		f->cursor.offset);
}

static void put_output(struct follower *f, const uint8_t *bytes, size_t length, uint64_t offset)
{
	if (length == 0 || !wants(f, TOPIC_OUTPUT))
		return;
	if (f->base64)
		put_event(f,
			json_pack("{s:s, s:o}", "type", "output", "base64",
				base64_json(bytes, length)),
			offset);
	else
		put_event(f,
			json_pack("{s:s, s:o, s:i}", "type", "output", "data",
				text_json(&f->decoder, bytes, length, false), "bytes", (int)length),
			offset);
}

static void put_entry(struct follower *f, const struct journal_entry *e)
{
	static const enum topic types[] = {[JOURNAL_BLOCK_STARTED] = TOPIC_BLOCK,
		[JOURNAL_BLOCK_ENDED] = TOPIC_BLOCK,
		[JOURNAL_TITLE] = TOPIC_TITLE,
		[JOURNAL_CWD] = TOPIC_CWD,
		[JOURNAL_BELL] = TOPIC_BELL,
		[JOURNAL_NOTIFICATION] = TOPIC_NOTIFICATION};
	enum topic type = types[e->type];
	if (!wants(f, type) || e->offset < f->from)
		return;
	json_t *event = type == TOPIC_BLOCK ? block_event_json(f->session, e)
					    : json_pack("{s:s}", "type", names[type]);
	if (event && (type == TOPIC_TITLE || type == TOPIC_CWD))
		json_object_set_new(event, names[type], text_string_json(e->text));
	if (event && type == TOPIC_NOTIFICATION) {
		json_object_set_new(event, "text", text_string_json(e->text));
		json_object_set_new(
			event, "title", e->detail ? text_string_json(e->detail) : json_null());
	}
	if (event) {
		json_object_set_new(event, "at", time_json(e->at_ms));
		put_event(f, event, e->offset);
	}
}

/* Entries up to an offset. */
static void put_entries(struct follower *f, uint64_t until)
{
	const struct journal *j = session_journal(f->session);
	const struct journal_entry *e;
	if (f->entry < journal_oldest(j)) {
		put_event(f,
			json_pack("{s:s, s:I}", "type", "gap", "events",
				(json_int_t)(journal_oldest(j) - f->entry)),
			f->cursor.offset);
		f->entry = journal_oldest(j);
	}
	for (; (e = journal_get(j, f->entry)) && e->offset <= until; f->entry++)
		put_entry(f, e);
}

static void put_presence(struct follower *f)
{
	const struct presence *p = session_presence(f->session);
	json_t *clients = json_array();
	f->presence = p->version;
	for (const struct attendee *a = p->first; a; a = a->next)
		json_array_append_new(clients,
			json_pack("{s:I, s:s, s:s}", "id", (json_int_t)a->id, "name", a->name,
				"role", role_name(a->role)));
	put_event(f, json_pack("{s:s, s:o}", "type", "presence", "clients", clients),
		session_head(f->session));
}

static bool is_same(const struct pane_state *a, const struct pane_state *b)
{
	return a->status == b->status && a->input == b->input && a->certain == b->certain &&
		a->foreground.pid == b->foreground.pid && a->alternate == b->alternate &&
		strcmp(a->exec, b->exec) == 0 && strcmp(a->block, b->block) == 0;
}

static void put_state(struct follower *f)
{
	struct pane_state *now = malloc(sizeof *now);
	f->state_due = false;
	if (!now)
		return;
	session_state(f->session, now);
	bool changed = !f->state || !is_same(f->state, now);
	if (changed)
		put_event(f, json_pack("{s:s, s:o}", "type", "state", "state", state_json(now)),
			now->offset);
	free(f->state);
	f->state = now;
}

static void put_exit(struct follower *f)
{
	json_t *event = session_exit_json(f->session);
	f->over = true;
	put_entries(f, UINT64_MAX);
	if (event && wants(f, TOPIC_EXIT)) {
		json_object_set_new(event, "type", json_string("exit"));
		put_event(f, event, f->cursor.offset);
	} else {
		json_decref(event);
	}
	reply_stream_complete(f->pending.request);
}

/* Bytes from the history, with the journal entries between them. */
static void put_bytes(struct follower *f, const uint8_t *bytes, size_t length)
{
	const struct journal *j = session_journal(f->session);
	uint64_t offset = f->cursor.offset - length;
	const struct journal_entry *e;
	put_entries(f, offset);
	while ((e = journal_get(j, f->entry)) && e->offset < f->cursor.offset) {
		size_t n = (size_t)(e->offset - offset);
		put_output(f, bytes, n, offset);
		bytes += n;
		length -= n;
		offset += n;
		put_entries(f, offset);
	}
	put_output(f, bytes, length, offset);
}

/* One step. Returns whether to try another one at once. */
static bool step_on(struct follower *f)
{
	struct session *s = f->session;
	uint8_t bytes[PIECE];
	if (!f->begun) {
		put_begin(f);
		return true;
	}
	struct history_read r = history_read(session_history(s), &f->cursor, bytes, sizeof bytes);
	switch (r.item) {
	case HISTORY_BYTES:
		put_bytes(f, bytes, r.length);
		return true;
	case HISTORY_SIZE:
		if (wants(f, TOPIC_SIZE) && r.size.offset >= f->from)
			put_event(f,
				json_pack("{s:s, s:i, s:i}", "type", "resize", "cols",
					(int)r.size.cols, "rows", (int)r.size.rows),
				r.size.offset);
		return true;
	case HISTORY_GAP:
		put_event(f, json_pack("{s:s, s:I}", "type", "gap", "bytes", (json_int_t)r.skipped),
			f->cursor.offset);
		return true;
	case HISTORY_END:
		put_exit(f);
		return false;
	case HISTORY_NOTHING:
		break;
	}
	put_entries(f, UINT64_MAX);
	if (wants(f, TOPIC_PRESENCE) && f->presence != session_presence(s)->version)
		put_presence(f);
	if (f->state_due)
		put_state(f);
	if (f->stops) {
		f->over = true;
		reply_stream_complete(f->pending.request);
	}
	return false;
}

static char *next_event(void *user)
{
	struct follower *f = user;
	uint64_t ignored = 0; /* lost output: offsets show it */
	while (!f->queue.list && f->session && !f->over && step_on(f))
		;
	return event_queue_take(&f->queue, &ignored);
}

/* Waking up */

static void on_quiet(void *user)
{
	struct follower *f = user;
	if (!f->session || f->over)
		return;
	uint64_t now = uv_now(f->pending.timer.loop), quiet = now - f->session->pane.output_ms;
	f->state_due = quiet >= QUIET_MS;
	/* A program can begin to wait for input without output. */
	bool runs = !f->state || f->state->status == STATE_RUNNING ||
		f->state->status == STATE_STARTING;
	uint64_t again = !f->state_due ? QUIET_MS - quiet : runs ? LOOK_MS : 0;
	if (again)
		pending_after(&f->pending, again, on_quiet);
	if (f->state_due)
		reply_stream_more(f->pending.request);
}

static void on_more(void *user)
{
	struct follower *f = user;
	if (wants(f, TOPIC_STATE) && !f->over)
		pending_after(&f->pending, QUIET_MS, on_quiet);
	reply_stream_more(f->pending.request);
}

static void on_gone(void *user)
{
	struct follower *f = user;
	if (!f->over)
		put_event(f,
			json_pack("{s:s, s:s}", "type", "gone", "reason",
				"The session has been deleted"),
			f->cursor.offset);
	f->session = NULL;
	uv_timer_stop(&f->pending.timer);
	if (!f->over)
		reply_stream_complete(f->pending.request);
	f->over = true;
}

static void on_closed(void *user)
{
	struct follower *f = user;
	if (f->session)
		journal_unwatch(session_journal(f->session), &f->watcher);
	event_queue_clear(&f->queue);
	free(f->state);
	pending_end(&f->pending);
}

/* Parsing */

static bool parse_types(struct request *r, unsigned *ret_types)
{
	const char *list = request_param(r, "types");
	char copy[TYPES_MAX + 1], *rest = copy;
	*ret_types = UINT32_MAX;
	if (!list)
		return true;
	snprintf(copy, sizeof copy, "%s", list);
	bool valid = strlen(list) <= TYPES_MAX;
	*ret_types = 0;
	for (char *word; valid && (word = strsep(&rest, ","));) {
		size_t i = 0;
		while (i < sizeof names / sizeof *names && strcmp(word, names[i]) != 0)
			i++;
		valid = i < sizeof names / sizeof *names;
		*ret_types |= valid ? 1u << i : 0;
	}
	if (!valid)
		reply_invalid(r, "types",
			"Must be some of output,state,block,title,cwd,bell,notification,resize,presence,exit",
			"invalid");
	return valid;
}

static bool parse_position(struct request *r, struct session *s, struct follower *f)
{
	const char *from = request_param(r, "from");
	uint64_t offset = history_limit(session_history(s));
	if (from && (!params_number(from, INT64_MAX, &offset) || offset > session_head(s)))
		return reply_invalid(r, "from", "Must be an offset of the session", "invalid");
	bool follow = true;
	if (!query_encoding(r, &f->base64) || !query_flag(r, "follow", &follow))
		return false;
	f->stops = !follow;
	f->from = offset;
	history_place(session_history(s), &f->cursor, offset);
	return true;
}

static void stream_session(struct request *r, struct session *s)
{
	struct api *a = api_of(r);
	unsigned types;
	if (!parse_types(r, &types))
		return;
	if (!session_is_readable(s)) {
		reply_error(r, "RESOURCE_BUSY", "The session is not running yet",
			json_pack("{s:s}", "sessionId", session_id(s)));
		return;
	}
	struct follower *f = request_alloc(r, sizeof *f);
	if (!f)
		return;
	if (!parse_position(r, s, f)) {
		free(f);
		return;
	}
	f->types = types;
	f->session = s;
	f->entry = journal_oldest(session_journal(s));
	f->presence = session_presence(s)->version - 1;
	f->state_due = wants(f, TOPIC_STATE);
	f->watcher = (struct journal_watcher){.more = on_more, .gone = on_gone, .user = f};
	pending_open(&f->pending, a->sessions->loop, r, f, NULL);
	if (wants(f, TOPIC_STATE))
		pending_after(&f->pending, LOOK_MS, on_quiet);
	journal_watch(session_journal(s), &f->watcher);
	reply_stream(r, &(struct event_stream){.next = next_event, .closed = on_closed, .user = f});
}

const struct route_row api_events_rows[] = {
	{METHOD_GET, "/api/session/{}/stream", ROUTE_VIEWER, .session = stream_session},
	{.path = NULL},
};
