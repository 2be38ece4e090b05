/*
 * What a client is told, and when. Nothing is queued for it: terminal_pump() asks, as long as the transport
 * has room, what this client is to be told next. Flags and versions say which messages are due, the cursor
 * says which bytes.
 */
#include "ring/utf8.h"
#include "shell/json_read.h"
#include "ws/socket/terminal_internal.h"

#include "ws/request.h"
#include "ws/api/json/block.h"
#include "ws/api/json/session.h"
#include "ws/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static void start_refresh(struct terminals *all);

static uint64_t now_ms(const struct terminal *t)
{
	return uv_now(t->all->sessions->loop);
}

static bool send_json(struct terminal *t, json_t *message)
{
	uint8_t *payload = t->all->scratch + FRAMES_HEADROOM;
	size_t length = message
		? json_dumpb(message, (char *)payload, FRAMES_PAYLOAD_MAX, JSON_COMPACT)
		: 0;
	json_decref(message);
	/* What does not fit is a presence of hundreds with long names: better silent than broken. */
	if (length == 0 || length > FRAMES_PAYLOAD_MAX)
		return true;
	return t->transport->send(t->transport_user, payload, length, FRAME_TEXT);
}

static bool tell_attached(struct terminal *t)
{
	char epoch[17];
	struct session *s = t->session;
	t->attached_told = true;
	snprintf(epoch, sizeof epoch, "%016" PRIx64, session_epoch(s));
	json_t *m = json_pack(
		"{s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:I, s:s, s:s, s:I, s:I, s:i, s:s, s:b}",
		"type", "attached", "sessionId", session_id(s), "epoch", epoch, "role",
		role_name(auth_shown_role(&t->principal)), "cols", (int)s->pane.cols, "rows",
		(int)s->pane.rows, "sizePolicy", size_policy_name(session_presence(s)->policy),
		"clientId", (json_int_t)t->viewer.attendee.id, "name", s->name, "state",
		session_state_name(s), "oldest", (json_int_t)session_oldest(s), "offset",
		(json_int_t)session_head(s), "scrollback", (int)s->table->config.scrollback,
		"unicode", screen_unicode_name(s->pane.unicode), "clipboard",
		(int)(s->table->config.clipboard && t->principal.role != ROLE_VIEWER));
	uint64_t taken;
	if (t->viewer.key > 0)
		json_object_set_new(m, "input",
			session_input_read(s, &t->viewer, &taken) ? json_integer((json_int_t)taken)
								  : json_null());
	return send_json(t, m);
}

/* From here on the client counts bytes. */
static bool tell_sync(struct terminal *t, struct history_size size)
{
	/* What is yet to be shown has one of its own. */
	t->sync_told = t->snapshot_due == SNAPSHOT_NONE;
	t->sync_due = false;
	json_t *m = json_pack("{s:s, s:I, s:i, s:i}", "type", "sync", "offset",
		(json_int_t)t->cursor.offset, "cols", (int)size.cols, "rows", (int)size.rows);
	if (t->skipped > 0)
		json_object_set_new(m, "skipped", json_integer((json_int_t)t->skipped));
	t->skipped = 0;
	return send_json(t, m);
}

static json_t *attendee_id(const struct attendee *a)
{
	return a ? json_integer((json_int_t)a->id) : json_null();
}

static bool tell_presence(struct terminal *t)
{
	const struct presence *p = session_presence(t->session);
	json_t *clients = json_array();
	t->presence_told = p->version;
	for (const struct attendee *a = p->first; a; a = a->next)
		json_array_append_new(clients,
			json_pack("{s:I, s:I, s:s, s:i, s:s, s:o}", "id", (json_int_t)a->id, "person",
				(json_int_t)a->person, "name", a->name, "color", (int)a->color,
				"role", role_name(a->role), "typedAt", time_json(a->typed_ms)));
	return send_json(t,
		json_pack("{s:s, s:o, s:o, s:s}", "type", "presence", "clients", clients, "sizeBy",
			attendee_id(p->size_by), "sizePolicy", size_policy_name(p->policy)));
}

static bool tell_size(struct terminal *t, struct history_size size)
{
	return send_json(t,
		json_pack("{s:s, s:i, s:i, s:I, s:o}", "type", "resize", "cols", (int)size.cols,
			"rows", (int)size.rows, "offset", (json_int_t)size.offset, "by",
			attendee_id(session_presence(t->session)->size_by)));
}

static bool tell_exit(struct terminal *t)
{
	json_t *m = session_exit_json(t->session);
	json_object_set_new(m, "type", json_string("exit"));
	return send_json(t, m);
}

/* The server begins nothing new any more, or does again. */
static bool tell_drain(struct terminal *t)
{
	t->draining_told = t->all->sessions->draining;
	return send_json(
		t, json_pack("{s:s, s:b}", "type", "drain", "draining", (int)t->draining_told));
}

static bool tell_ready(struct terminal *t)
{
	t->ready = true;
	return send_json(t, json_pack("{s:s}", "type", "ready"));
}

static bool tell_error(struct terminal *t)
{
	json_t *m = json_pack("{s:s, s:s, s:s}", "type", "error", "code", t->error_code, "message",
		t->error_message);
	t->error_code = NULL;
	return send_json(t, m);
}

static bool tell_pong(struct terminal *t)
{
	t->pong = false;
	json_t *m = json_pack("{s:s, s:o}", "type", "pong", "t",
		json_read(t->pong_time, strlen(t->pong_time), JSON_DECODE_ANY, NULL));
	return send_json(t, m);
}

static bool tell_state(struct terminal *t)
{
	const struct session *s = t->session;
	json_t *m = json_pack("{s:s, s:s, s:s}", "type", "state", "name", s->name, "state",
		session_state_name(s));
	if (t->restarts_told != s->restarts)
		json_object_set_new(m, "shell", session_restart_json(s));
	t->name_told = s->name_version;
	t->restarts_told = s->restarts;
	return send_json(t, m);
}

static bool tell_lease(struct terminal *t)
{
	const struct lease *lease = session_keyboard(t->session);
	t->lease_told = lease->version;
	bool yours = t->lease[0] && typing_is_allowed(&t->session->typing, t->lease);
	return send_json(t,
		json_pack("{s:s, s:o, s:o, s:o}", "type", "lease", "lease", lease_json(lease),
			"yours", t->lease[0] ? json_boolean(yours) : json_null(), "note",
			lease_note_json(lease)));
}

/* Whether more of its input has been taken than it knows. */
static bool owes_receipt(const struct terminal *t, uint64_t *ret_taken)
{
	if (t->viewer.key == 0 || t->input_told == t->viewer.typed)
		return false;
	/* Where others' receipts have gone over its own, nothing waited for long. */
	if (!session_input_read(t->session, &t->viewer, ret_taken))
		*ret_taken = t->viewer.typed;
	return *ret_taken != t->input_told;
}

static bool tell_input(struct terminal *t, uint64_t taken)
{
	t->input_told = taken;
	return send_json(t, json_pack("{s:s, s:I}", "type", "input", "taken", (json_int_t)taken));
}

static bool tell_title(struct terminal *t)
{
	/* As it was told: what has not been drawn yet has not been counted as a title either. */
	const struct glance g = pane_screen_summary(&t->session->pane);
	t->title_told = t->session->title_version;
	return send_json(
		t, json_pack("{s:s, s:s, s:s}", "type", "title", "title", g.title, "icon", g.icon));
}

static bool is_block(const struct journal_entry *e)
{
	return e->type == JOURNAL_BLOCK_STARTED || e->type == JOURNAL_BLOCK_ENDED;
}

/* The next of its news that it has not been told, or NULL; of many only the latest are. */
static const struct journal_entry *next_news(struct terminal *t)
{
	const struct journal *j = session_journal(t->session);
	const struct journal_entry *e = NULL;
	if (j->count - t->journal_told > TERMINAL_NEWS_MAX) {
		t->journal_told = j->count - TERMINAL_NEWS_MAX;
		t->blocks_missed = t->blocks;
	}
	for (; t->journal_told < j->count; t->journal_told++) {
		e = journal_get(j, t->journal_told);
		if (e && ((e->type == JOURNAL_NOTIFICATION && e->text) || (t->blocks && is_block(e))))
			return e;
	}
	return NULL;
}

static bool tell_blocks_missed(struct terminal *t)
{
	t->blocks_missed = false;
	return send_json(t, json_pack("{s:s, s:s}", "type", "block", "event", "missed"));
}

/* One that does not fit into a frame is asked for otherwise, as one that is forgotten by now. */
static bool tell_block(struct terminal *t, const struct journal_entry *e)
{
	json_t *m = block_event_json(t->session, e);
	t->journal_told++;
	if (m && json_dumpb(m, NULL, 0, JSON_COMPACT) <= FRAMES_PAYLOAD_MAX)
		return send_json(t, m);
	json_decref(m);
	return tell_blocks_missed(t);
}

static bool tell_notification(struct terminal *t, const struct journal_entry *e)
{
	t->journal_told++;
	return send_json(t,
		json_pack("{s:s, s:o, s:o}", "type", "notification", "title",
			e->detail ? text_string_json(e->detail) : json_null(), "text",
			text_string_json(e->text)));
}

static bool tell_news(struct terminal *t, const struct journal_entry *e)
{
	return is_block(e) ? tell_block(t, e) : tell_notification(t, e);
}

/* Snapshots */

static void drop_sent(struct terminal *t)
{
	t->all->snapshot_bytes -= t->snapshot.length;
	free(t->snapshot.bytes);
	t->snapshot = (struct snapshot){0};
	t->snapshot_sent = 0;
}

/* The one that is due is not made, or not this way. */
static void drop_picture(struct terminal *t)
{
	if (t->pictured)
		t->all->snapshot_bytes -= t->look.picture.snapshot.length;
	t->pictured = false;
	look_cancel(&t->look);
}

void terminal_drop_snapshot(struct terminal *t)
{
	drop_picture(t);
	drop_sent(t);
}

void terminal_want_snapshot(struct terminal *t, enum snapshot_reason reason)
{
	/* One that is being made has as many lines as the client wanted before. */
	bool other = reason == SNAPSHOT_REQUEST && t->look.lines != t->lines;
	if (t->snapshot_due < reason || other) {
		drop_picture(t);
		t->snapshot_due = reason;
	}
	t->sync_told = false;
}

/* How many lines it gets of the scrollback once it keeps up: what a slow line takes long for, it has to ask for. */
static unsigned refill_lines(const struct terminal *t)
{
	uint64_t most = t->pace.slow ? t->pace.window * 2 / TERMINAL_LINE_BYTES : t->lines;
	return most < t->lines ? (unsigned)most : t->lines;
}

/*
 * Whether it sees the screen before what is above it, which a slow line takes long for: who says what has reached it can be
 * given the rest behind that. Of a screen that is elsewhere it is not known how much there is.
 */
static bool sees_screen_first(const struct terminal *t)
{
	const struct screen *screen = pane_screen_here(&t->session->pane);
	unsigned lines = t->lines;
	if (screen && screen_scrollback(screen) < lines)
		lines = screen_scrollback(screen);
	return t->snapshot_due == SNAPSHOT_ATTACH && t->pace.active &&
		lines > TERMINAL_BESIDE / TERMINAL_LINE_BYTES;
}

/* How many lines of scrollback the next snapshot has. */
static unsigned snapshot_lines(struct terminal *t)
{
	t->screen_first = t->screen_first || sees_screen_first(t);
	/* Whoever is too slow gets the screen; whoever does not read must not cost us memory. */
	bool few = t->behind || (t->snapshot_due == SNAPSHOT_LAG && !t->calm) ||
		(t->snapshot_due == SNAPSHOT_ATTACH && t->screen_first);
	if (few || t->all->snapshot_bytes > TERMINAL_SNAPSHOTS_MAX)
		return 0;
	return t->snapshot_due == SNAPSHOT_LAG ? refill_lines(t) : t->lines;
}

static void count_picture(struct terminal *t)
{
	t->pictured = true;
	t->all->snapshot_bytes += t->look.picture.snapshot.length;
}

static void on_pictured(void *user)
{
	struct terminal *t = user;
	count_picture(t);
	terminal_pump(t);
}

/*
 * Whether what it is to be shown is there, not yet overwritten; otherwise it is made. Who is too slow gets any screen that is
 * news: to follow all that is left would take long.
 */
static bool is_pictured(struct terminal *t)
{
	if (t->pictured && t->look.picture.offset < history_oldest(session_history(t->session)))
		drop_picture(t);
	if (t->pictured || t->look.state != LOOK_IDLE)
		return t->pictured;
	t->look = (struct look){.enough = t->snapshot_due == SNAPSHOT_LAG ? t->cursor.offset + 1 : 0,
		.paints = true,
		.marks = t->blocks,
		.lines = snapshot_lines(t),
		.seen = on_pictured,
		.user = t};
	if (pane_look(&t->session->pane, &t->look))
		count_picture(t);
	return t->pictured;
}

/* The client goes on from where the snapshot leaves its terminal. Returns bytes that it will not get. */
static uint64_t move_behind(struct terminal *t, const struct picture *picture)
{
	struct history *h = session_history(t->session);
	uint64_t from = t->cursor.offset, to = picture->resume;
	bool end_told = t->cursor.end_told;
	if (to < history_oldest(h))
		to = picture->offset;
	history_place(h, &t->cursor, to);
	/* The screen may have had a size since, in the middle of what is unfinished there. */
	t->cursor.sizes = picture->sizes;
	t->cursor.end_told = end_told;
	return to > from ? to - from : 0;
}

/* Begin to send what it is to be shown; its bytes follow. */
static bool tell_snapshot(struct terminal *t)
{
	static const char *const reasons[] = {
		[SNAPSHOT_LAG] = "lag", [SNAPSHOT_REQUEST] = "request", [SNAPSHOT_ATTACH] = "attach"};
	struct metrics *m = t->all->metrics;
	enum snapshot_reason reason = t->snapshot_due;
	const struct picture picture = t->look.picture;
	t->look.picture = (struct picture){0};
	t->pictured = false;
	t->snapshot_due = SNAPSHOT_NONE;
	t->snapshot = picture.snapshot;
	if (!t->snapshot.bytes) {
		/* No memory for it: then the history from its oldest byte on, as far as it goes. */
		t->skipped += history_seek(session_history(t->session), &t->cursor, false, 0);
		return true;
	}
	t->partial = t->snapshot.lines < picture.total && t->snapshot.lines < refill_lines(t);
	if (t->partial)
		start_refresh(t->all);
	bool fills = t->screen_first && reason == SNAPSHOT_LAG;
	t->screen_first = t->screen_first && t->partial && reason == SNAPSHOT_ATTACH;
	uint64_t skipped = move_behind(t, &picture);
	if (reason == SNAPSHOT_ATTACH) {
		skipped = t->resume && t->cursor.offset > t->offset ? t->cursor.offset - t->offset
								    : 0;
		t->ready_at = t->cursor.offset;
	} else if (reason == SNAPSHOT_LAG && !fills) {
		m->resyncs++;
		m->bytes_skipped += skipped;
	}
	m->snapshots++;
	t->skipped = 0;
	t->sync_due = true;
	json_t *message = json_pack("{s:s, s:I, s:I, s:i, s:i, s:i, s:i, s:I, s:s}", "type",
		"snapshot", "offset", (json_int_t)t->cursor.offset, "bytes",
		(json_int_t)t->snapshot.length, "cols", (int)picture.cols, "rows",
		(int)picture.rows, "lines", (int)t->snapshot.lines, "total", (int)picture.total,
		"line", (json_int_t)(picture.base - t->snapshot.lines), "reason", reasons[reason]);
	if (skipped > 0)
		json_object_set_new(message, "skipped", json_integer((json_int_t)skipped));
	if (t->partial)
		json_object_set_new(message, "partial", json_true());
	return send_json(t, message);
}

/* The next piece of the snapshot. Returns bytes sent, or -1 when the peer is lost. */
static long tell_piece(struct terminal *t, size_t room)
{
	uint8_t *payload = t->all->scratch + FRAMES_HEADROOM;
	/* Not inside a character: see history_read(). Something has to go all the same. */
	size_t length = utf8_cut(
		t->snapshot.bytes + t->snapshot_sent, t->snapshot.length - t->snapshot_sent, room);
	if (length == 0)
		length = 1;
	memcpy(payload, t->snapshot.bytes + t->snapshot_sent, length);
	t->snapshot_sent += length;
	if (t->snapshot_sent == t->snapshot.length)
		drop_sent(t);
	t->all->metrics->bytes_sent += length;
	pace_sent(&t->pace, length, now_ms(t));
	return t->transport->send(t->transport_user, payload, length, FRAME_BINARY) ? (long)length
										    : -1;
}

/* Too slow */

/* The backlog that is worth a snapshot. Who has asked for more than the usual has it. */
static uint64_t lag_of(const struct terminal *t)
{
	return t->lag > TERMINAL_LAG ? t->lag : pace_lag(&t->pace, t->lag);
}

/* Whether it has, about, what it was sent. */
static bool is_drained(const struct terminal *t)
{
	return (!t->pace.slow || pace_is_empty(&t->pace)) &&
		t->transport->queued(t->transport_user) <= TERMINAL_DRAINED;
}

/*
 * A client that has fallen behind gets no backlog. A few times a second, when it has taken the last one,
 * it gets the screen as it is then. That it takes those says little of what else it could take: it is back
 * in the stream when there is nothing in that; and on trial, unless there is so much that it would soon be
 * behind again, the more rarely the more often it has failed. When there is little output at last it gets
 * what it lacks of the scrollback.
 */
static void refresh(struct terminal *t)
{
	uint64_t limit = history_limit(session_history(t->session)), more = limit - t->limit_seen;
	t->limit_seen = limit;
	if (!t->behind && ++t->kept >= TERMINAL_KEPT_TIMES)
		t->patience = 0;
	if (t->snapshot.bytes || t->snapshot_due != SNAPSHOT_NONE || !is_drained(t)) {
		t->drained = t->thin = 0;
		return;
	}
	t->drained++;
	t->thin = more <= TERMINAL_DRAINED ? t->thin + 1 : 0;
	if (t->behind && limit != t->cursor.offset)
		terminal_want_snapshot(t, SNAPSHOT_LAG);
	if (t->behind && (more == 0 || (t->drained >= t->patience && more <= t->lag))) {
		t->behind = false;
		t->kept = 0;
	}
	if (!t->behind && t->partial && t->thin >= TERMINAL_DRAINED_TIMES &&
		t->all->snapshot_bytes <= TERMINAL_SNAPSHOTS_MAX) {
		t->calm = true;
		terminal_want_snapshot(t, SNAPSHOT_LAG);
	}
	terminal_pump(t);
}

/* Who sees the screen first gets what is above it as soon as it has that. Returns whether that is due now. */
static bool fill_up(struct terminal *t)
{
	if (!t->screen_first || !t->ready || !pace_is_empty(&t->pace) ||
		t->all->snapshot_bytes > TERMINAL_SNAPSHOTS_MAX)
		return false;
	t->calm = true;
	terminal_want_snapshot(t, SNAPSHOT_LAG);
	return true;
}

/* Whether it has to be looked at from time to time. */
static bool needs_refresh(const struct terminal *t)
{
	return t->session && !t->closing && (t->behind || t->partial || t->patience > 0);
}

/* Whether a program has yet to read what it has typed. */
static bool waits_for_receipt(const struct terminal *t)
{
	return t->session && !t->closing && t->viewer.key > 0 && t->input_told != t->viewer.typed;
}

static void on_refresh(uv_timer_t *timer)
{
	struct terminals *all = timer->data;
	struct terminal *t, *next;
	bool again = false;
	DL_FOREACH_SAFE (all->list, t, next) {
		if (needs_refresh(t))
			refresh(t);
		else if (waits_for_receipt(t))
			terminal_pump(t);
		again = again || needs_refresh(t) || waits_for_receipt(t);
	}
	if (!again)
		uv_timer_stop(timer);
}

static void start_refresh(struct terminals *all)
{
	if (!uv_is_active((uv_handle_t *)&all->refresh))
		uv_timer_start(&all->refresh, on_refresh, TERMINAL_REFRESH_MS, TERMINAL_REFRESH_MS);
}

static void fall_behind(struct terminal *t)
{
	t->behind = true;
	t->calm = t->screen_first = false;
	t->drained = t->thin = 0;
	t->patience = t->patience == 0            ? TERMINAL_DRAINED_TIMES
		: t->patience < TERMINAL_PATIENCE ? t->patience * 2
						  : TERMINAL_PATIENCE;
	terminal_want_snapshot(t, SNAPSHOT_LAG);
	start_refresh(t->all);
}

/* Since when the next byte that it is to get has been there, in whole pieces of what it has got at once. */
static void note_waiting(struct terminal *t)
{
	if (t->cursor.offset < t->waiting_to)
		return;
	t->waiting_to = history_limit(session_history(t->session));
	t->waiting_ms = now_ms(t);
}

/*
 * Whether the client's place is too far back to go on from there: the ring has gone over it, or there is much and it has
 * not taken it for long. One that takes all that it is given is never that slow, however much comes at once.
 */
static bool lags(const struct terminal *t)
{
	const struct history *h = session_history(t->session);
	uint64_t limit = history_limit(h), at = t->cursor.offset;
	return at < history_oldest(h) ||
		(t->ready && limit > at && limit - at > lag_of(t) &&
			now_ms(t) - t->waiting_ms > TERMINAL_LAG_MS);
}

void terminal_owe_receipt(struct terminal *t)
{
	t->transport->want(t->transport_user);
	start_refresh(t->all);
}

/* What the client of a terminal of its own hears of: that it begins, and errors. */
static int tell_own_message(struct terminal *t)
{
	bool sent = true;
	if (t->error_code)
		sent = tell_error(t);
	else if (t->pong)
		sent = tell_pong(t);
	else if (t->session && !t->ready)
		sent = tell_ready(t);
	else
		return 0;
	return sent ? 1 : -1;
}

/* Some of its output was not read in time: nothing that follows could be believed. */
static bool tell_loss(struct terminal *t)
{
	t->error_code = "OUTPUT_LOST";
	t->error_message = "The output has not been read in time: some of it is lost";
	bool sent = tell_error(t);
	terminal_end(t, CLOSE_INTERNAL, t->error_message);
	return sent;
}

static bool is_one_of(uint8_t byte, const char *set)
{
	return byte && strchr(set, byte);
}

/* Where to cut a piece that could be an object of JSON as a whole, so that neither part is one; length: it is none. */
static size_t find_object_end(const uint8_t *bytes, size_t length)
{
	static const char mark[] = "\xef\xbb\xbf", blanks[] = " \t\r\n";
	size_t begin = 0, end = length;
	if (length >= sizeof mark - 1 && memcmp(bytes, mark, sizeof mark - 1) == 0)
		begin = sizeof mark - 1; /* decoders leave it out */
	while (begin < end && is_one_of(bytes[begin], blanks))
		begin++;
	while (end > begin && is_one_of(bytes[end - 1], blanks))
		end--;
	if (end == begin || bytes[begin] != '{' || bytes[end - 1] != '}')
		return length;
	/* None of the braces at its end goes with the first part. */
	while (end > begin && is_one_of(bytes[end - 1], "} \t\r\n"))
		end--;
	return end;
}

/*
 * Output of a terminal of its own. Its clients take a frame that is an object as a message of ours, text or not: a program's
 * comes in two.
 */
static bool send_own(struct terminal *t, uint8_t *payload, size_t length)
{
	size_t end = find_object_end(payload, length);
	bool sent = t->transport->send(t->transport_user, payload, end, FRAME_BINARY);
	if (!sent || end == length)
		return sent;
	memmove(payload, payload + end, length - end);
	return t->transport->send(t->transport_user, payload, length - end, FRAME_BINARY);
}

int terminal_refresh_init(struct terminals *all)
{
	all->refresh.data = all;
	return uv_timer_init(all->sessions->loop, &all->refresh);
}

/* One message, if one is due. Returns 1 when one was sent, 0 when none is due, -1 when the peer is lost. */
static int tell_message(struct terminal *t)
{
	const struct journal_entry *e;
	uint64_t taken;
	bool sent;
	if (t->own)
		return tell_own_message(t);
	if (t->error_code)
		sent = tell_error(t);
	else if (t->pong)
		sent = tell_pong(t);
	else if (!t->session)
		return 0;
	else if (!t->attached_told)
		sent = tell_attached(t);
	else if (owes_receipt(t, &taken))
		sent = tell_input(t, taken);
	else if (t->snapshot.bytes)
		return 0;
	else if (t->sync_due)
		sent = tell_sync(t, history_size_at(session_history(t->session), &t->cursor));
	else if (t->snapshot_due != SNAPSHOT_NONE && !is_pictured(t))
		return 0;
	else if (t->snapshot_due != SNAPSHOT_NONE)
		sent = tell_snapshot(t);
	else if (!t->sync_told)
		sent = tell_sync(t, history_size_at(session_history(t->session), &t->cursor));
	else if (!t->ready && t->cursor.offset >= t->ready_at)
		sent = tell_ready(t);
	else if (t->ready && t->presence_told != session_presence(t->session)->version)
		sent = tell_presence(t);
	else if (t->ready &&
		(t->name_told != t->session->name_version ||
			t->restarts_told != t->session->restarts))
		sent = tell_state(t);
	else if (t->ready && t->draining_told != t->all->sessions->draining)
		sent = tell_drain(t);
	else if (t->ready && t->lease_told != session_keyboard(t->session)->version)
		sent = tell_lease(t);
	else if (t->ready && t->title_told != t->session->title_version)
		sent = tell_title(t);
	else if (t->ready && t->blocks_missed)
		sent = tell_blocks_missed(t);
	else if (t->ready && (e = next_news(t)))
		sent = tell_news(t, e);
	else
		return 0;
	return sent ? 1 : -1;
}

/* The next piece of the history. Returns bytes sent, or -1 when the peer is lost; *ret_more: there is more. */
static long tell_history(struct terminal *t, size_t room, bool *ret_more)
{
	uint8_t *payload = t->all->scratch + FRAMES_HEADROOM;
	struct metrics *m = t->all->metrics;
	*ret_more = true;
	if (!t->own && !t->behind && lags(t) && pane_has_screen(&t->session->pane)) {
		fall_behind(t);
		return 0;
	}
	/* Nothing but snapshots until it keeps up; the last bytes of all are the exception. */
	*ret_more = false;
	if (t->behind && !session_history(t->session)->ended)
		return 0;
	struct history_read r = history_read(session_history(t->session), &t->cursor, payload, room);
	bool sent = true;
	*ret_more = r.item != HISTORY_NOTHING;
	switch (r.item) {
	case HISTORY_NOTHING:
		return 0;
	case HISTORY_BYTES:
		m->bytes_sent += r.length;
		pace_sent(&t->pace, r.length, now_ms(t));
		sent = t->own
			? send_own(t, payload, r.length)
			: t->transport->send(t->transport_user, payload, r.length, FRAME_BINARY);
		break;
	case HISTORY_SIZE:
		sent = t->own || tell_size(t, r.size);
		break;
	case HISTORY_GAP:
		m->resyncs++;
		m->bytes_skipped += r.skipped;
		t->skipped += r.skipped;
		sent = t->own ? tell_loss(t) : tell_sync(t, r.size);
		break;
	case HISTORY_END:
		/* The end is told after `ready`, which is due first when both are. */
		sent = (t->ready || tell_ready(t)) && tell_exit(t);
		if (sent && t->own)
			terminal_end(t, CLOSE_NORMAL, "exit");
		break;
	}
	return sent ? (long)r.length : -1;
}

/* Where it is, for those who may wait for it: only while it gets the output as it comes. */
static void note_taken(struct terminal *t, bool all)
{
	/* Where output is held back for it, there may be more now. */
	if (t->viewer.waits && t->session && t->cursor.offset != t->viewer.offset)
		sessions_make_busy(t->all->sessions, t->session);
	t->viewer.offset = t->cursor.offset;
	if (t->behind || !t->session || !(t->sync_told || t->snapshot.bytes))
		t->viewer.taken_ms = 0;
	else if (all)
		t->viewer.taken_ms = now_ms(t);
}

static void pump(struct terminal *t)
{
	size_t sent = 0, room;
	while (!t->closing && (room = t->transport->room(t->transport_user)) > 0) {
		bool more = true;
		int told = tell_message(t);
		if (told < 0)
			return;
		if (told > 0)
			continue;
		if (t->snapshot_due == SNAPSHOT_NONE && !t->snapshot.bytes && fill_up(t))
			continue;
		if (!t->session || !(t->sync_told || t->snapshot.bytes))
			return;
		if (sent >= FRAMES_PAYLOAD_MAX) {
			t->transport->want(t->transport_user);
			return;
		}
		room = pace_room(&t->pace, room > FRAMES_PAYLOAD_MAX ? FRAMES_PAYLOAD_MAX : room);
		if (room == 0)
			return; /* it will say when more has reached it */
		long n = t->snapshot.bytes ? tell_piece(t, room) : tell_history(t, room, &more);
		if (n < 0 || !more)
			return;
		sent += (size_t)n;
	}
}

/* Send what is due while there is room; one full frame at most, then others have their turn. */
void terminal_pump(struct terminal *t)
{
	bool all = !t->closing && pace_room(&t->pace, t->transport->room(t->transport_user)) > 0;
	if (t->session)
		note_waiting(t);
	pump(t);
	note_taken(t, all);
}
