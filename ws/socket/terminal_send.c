/*
 * Sends messages and output to clients. Nothing is queued: while the transport has room, terminal_pump() determines what is
 * next. Flags and versions show which messages are due, the cursor which bytes.
 */
#include "ring/utf8.h"
#include "shell/json_read.h"
#include "ws/socket/terminal_internal.h"

#include "ws/request.h"
#include "ws/json/block.h"
#include "ws/json/session.h"
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
	/* Too large: a presence of hundreds with long names. Skip it. */
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

/* Send the offset from which the client counts bytes. */
static bool tell_sync(struct terminal *t, struct history_size size)
{
	/* A snapshot that is due has a sync of its own. */
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

/* The server drains, or does not any more. */
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

/* Whether more of the client's input was read than its last receipt says. */
static bool owes_receipt(const struct terminal *t, uint64_t *ret_taken)
{
	if (t->viewer.key == 0 || t->input_told == t->viewer.typed)
		return false;
	/* Unknown if other clients' receipts have overwritten it; then all was read. */
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
	/* A title that is not drawn yet does not count in title_version either. */
	const struct glance g = pane_screen_summary(&t->session->pane);
	t->title_told = t->session->title_version;
	return send_json(
		t, json_pack("{s:s, s:s, s:s}", "type", "title", "title", g.title, "icon", g.icon));
}

static bool is_block(const struct journal_entry *e)
{
	return e->type == JOURNAL_BLOCK_STARTED || e->type == JOURNAL_BLOCK_ENDED;
}

/* The next entry of the journal for this client, or NULL. Of many only the latest are sent. */
static const struct journal_entry *next_news(struct terminal *t)
{
	const struct journal *j = session_journal(t->session);
	const struct journal_entry *e = NULL;
	if (j->count - t->journal_told > TERMINAL_JOURNAL_MAX) {
		t->journal_told = j->count - TERMINAL_JOURNAL_MAX;
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

/* If the block does not fit into a frame or is forgotten, send "missed": then the client asks for it. */
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

static void drop_sending(struct terminal *t)
{
	t->all->snapshot_bytes -= t->snapshot.length;
	free(t->snapshot.bytes);
	t->snapshot = (struct snapshot){0};
	t->snapshot_sent = 0;
}

/* Drop the snapshot that is being made. */
static void drop_unsent(struct terminal *t)
{
	if (t->has_picture)
		t->all->snapshot_bytes -= t->look.picture.snapshot.length;
	t->has_picture = false;
	look_cancel(&t->look);
}

void terminal_drop_snapshot(struct terminal *t)
{
	drop_unsent(t);
	drop_sending(t);
}

void terminal_want_snapshot(struct terminal *t, enum snapshot_reason reason)
{
	/* The one that is being made may have the wrong number of lines. */
	bool other = reason == SNAPSHOT_REQUEST && t->look.lines != t->lines;
	if (t->snapshot_due < reason || other) {
		drop_unsent(t);
		t->snapshot_due = reason;
	}
	t->sync_told = false;
}

/* Lines of scrollback that a client gets once it keeps up. On a slow line it must ask for more. */
static unsigned refill_lines(const struct terminal *t)
{
	uint64_t most = t->pace.slow ? t->pace.window * 2 / TERMINAL_LINE_BYTES : t->lines;
	return most < t->lines ? (unsigned)most : t->lines;
}

/*
 * Whether the first snapshot has no scrollback, because it would take long on a slow line. Only for clients that acknowledge:
 * they get it as soon as the screen has arrived. A screen on a worker thread counts as having all lines.
 */
static bool sees_screen_first(const struct terminal *t)
{
	const struct screen *screen = pane_screen_here(&t->session->pane);
	unsigned lines = t->lines;
	if (screen && screen_scrollback(screen) < lines)
		lines = screen_scrollback(screen);
	return t->snapshot_due == SNAPSHOT_ATTACH && t->pace.active &&
		lines > TERMINAL_FIRST_SCROLLBACK / TERMINAL_LINE_BYTES;
}

/* Lines of scrollback of the next snapshot. */
static unsigned snapshot_lines(struct terminal *t)
{
	t->screen_first = t->screen_first || sees_screen_first(t);
	/* A slow client gets only the screen; clients that do not read must not cost memory. */
	bool few = t->behind || (t->snapshot_due == SNAPSHOT_LAG && !t->full_lines) ||
		(t->snapshot_due == SNAPSHOT_ATTACH && t->screen_first);
	if (few || t->all->snapshot_bytes > TERMINAL_SNAPSHOTS_MAX)
		return 0;
	return t->snapshot_due == SNAPSHOT_LAG ? refill_lines(t) : t->lines;
}

static void count_picture(struct terminal *t)
{
	t->has_picture = true;
	t->all->snapshot_bytes += t->look.picture.snapshot.length;
}

static void on_picture(void *user)
{
	struct terminal *t = user;
	count_picture(t);
	terminal_pump(t);
}

/*
 * Whether the due snapshot is made and its offset still in the ring; otherwise begin to make it. For lag, any screen newer than
 * the cursor is enough.
 */
static bool prepare_picture(struct terminal *t)
{
	if (t->has_picture && t->look.picture.offset < history_oldest(session_history(t->session)))
		drop_unsent(t);
	if (t->has_picture || t->look.state != LOOK_IDLE)
		return t->has_picture;
	t->look = (struct look){.enough = t->snapshot_due == SNAPSHOT_LAG ? t->cursor.offset + 1 : 0,
		.paints = true,
		.marks = t->blocks,
		.lines = snapshot_lines(t),
		.seen = on_picture,
		.user = t};
	if (pane_look(&t->session->pane, &t->look))
		count_picture(t);
	return t->has_picture;
}

/* Move the cursor to the snapshot's end. Returns the number of bytes that are skipped. */
static uint64_t move_behind(struct terminal *t, const struct picture *picture)
{
	struct history *h = session_history(t->session);
	uint64_t from = t->cursor.offset, to = picture->resume;
	bool end_told = t->cursor.end_told;
	if (to < history_oldest(h))
		to = picture->offset;
	history_place(h, &t->cursor, to);
	/* The screen may have been resized within an unfinished sequence. */
	t->cursor.sizes = picture->sizes;
	t->cursor.end_told = end_told;
	return to > from ? to - from : 0;
}

/* Send the head of a snapshot; its bytes follow. */
static bool tell_snapshot(struct terminal *t)
{
	static const char *const reasons[] = {
		[SNAPSHOT_LAG] = "lag", [SNAPSHOT_REQUEST] = "request", [SNAPSHOT_ATTACH] = "attach"};
	struct metrics *m = t->all->metrics;
	enum snapshot_reason reason = t->snapshot_due;
	const struct picture picture = t->look.picture;
	t->look.picture = (struct picture){0};
	t->has_picture = false;
	t->snapshot_due = SNAPSHOT_NONE;
	t->snapshot = picture.snapshot;
	if (!t->snapshot.bytes) {
		/* No memory: send the history from its oldest byte on. */
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

/* Send the next piece of the snapshot. Returns its length, or -1 when the connection is lost. */
static long tell_piece(struct terminal *t, size_t room)
{
	uint8_t *payload = t->all->scratch + FRAMES_HEADROOM;
	/* Cut between characters, see history_read(); but send at least a byte. */
	size_t length = utf8_cut(
		t->snapshot.bytes + t->snapshot_sent, t->snapshot.length - t->snapshot_sent, room);
	if (length == 0)
		length = 1;
	memcpy(payload, t->snapshot.bytes + t->snapshot_sent, length);
	t->snapshot_sent += length;
	if (t->snapshot_sent == t->snapshot.length)
		drop_sending(t);
	t->all->metrics->bytes_sent += length;
	pace_sent(&t->pace, length, now_ms(t));
	return t->transport->send(t->transport_user, payload, length, FRAME_BINARY) ? (long)length
										    : -1;
}

/* Slow clients */

/* The backlog from which a snapshot replaces it. A client that asked for more than the default gets that. */
static uint64_t lag_of(const struct terminal *t)
{
	return t->lag > TERMINAL_LAG ? t->lag : pace_lag(&t->pace, t->lag);
}

/* Whether almost nothing is in flight. */
static bool is_drained(const struct terminal *t)
{
	return (!t->pace.slow || pace_is_empty(&t->pace)) &&
		t->transport->queued(t->transport_user) <= TERMINAL_DRAINED;
}

/*
 * Check a slow client. While it is behind, it gets a snapshot instead of the backlog, whenever the last one has arrived. It
 * gets the stream again when there is no output, or as a trial when it has been drained for drained_needed checks and there
 * is little output. Each failed trial doubles drained_needed. When output is low it gets the scrollback that it lacks.
 */
static void refresh(struct terminal *t)
{
	uint64_t limit = history_limit(session_history(t->session)), more = limit - t->limit_seen;
	t->limit_seen = limit;
	if (!t->behind && ++t->kept_count >= TERMINAL_TRIAL_TIMES)
		t->drained_needed = 0;
	if (t->snapshot.bytes || t->snapshot_due != SNAPSHOT_NONE || !is_drained(t)) {
		t->drained_count = t->quiet_count = 0;
		return;
	}
	t->drained_count++;
	t->quiet_count = more <= TERMINAL_DRAINED ? t->quiet_count + 1 : 0;
	if (t->behind && limit != t->cursor.offset)
		terminal_want_snapshot(t, SNAPSHOT_LAG);
	if (t->behind && (more == 0 || (t->drained_count >= t->drained_needed && more <= t->lag))) {
		t->behind = false;
		t->kept_count = 0;
	}
	if (!t->behind && t->partial && t->quiet_count >= TERMINAL_DRAINED_TIMES &&
		t->all->snapshot_bytes <= TERMINAL_SNAPSHOTS_MAX) {
		t->full_lines = true;
		terminal_want_snapshot(t, SNAPSHOT_LAG);
	}
	terminal_pump(t);
}

/* Begin to send the scrollback after a first snapshot without, once that has arrived. Returns whether it is due. */
static bool fill_up(struct terminal *t)
{
	if (!t->screen_first || !t->ready || !pace_is_empty(&t->pace) ||
		t->all->snapshot_bytes > TERMINAL_SNAPSHOTS_MAX)
		return false;
	t->full_lines = true;
	terminal_want_snapshot(t, SNAPSHOT_LAG);
	return true;
}

/* Whether the client must be checked by the timer. */
static bool needs_refresh(const struct terminal *t)
{
	return t->session && !t->closing && (t->behind || t->partial || t->drained_needed > 0);
}

/* Whether a program has not read all of the client's input yet. */
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
	t->full_lines = t->screen_first = false;
	t->drained_count = t->quiet_count = 0;
	t->drained_needed = t->drained_needed == 0               ? TERMINAL_DRAINED_TIMES
		: t->drained_needed < TERMINAL_DRAINED_TIMES_MAX ? t->drained_needed * 2
								 : TERMINAL_DRAINED_TIMES_MAX;
	terminal_want_snapshot(t, SNAPSHOT_LAG);
	start_refresh(t->all);
}

/* Note since when the output at the cursor has waited. */
static void note_waiting(struct terminal *t)
{
	if (t->cursor.offset < t->waiting_to)
		return;
	t->waiting_to = history_limit(session_history(t->session));
	t->waiting_ms = now_ms(t);
}

/*
 * Whether the cursor is too far back: its offset is overwritten, or the backlog is large and has waited for long. A client that
 * reads all that it gets never lags, however much comes at once.
 */
static bool lags(const struct terminal *t)
{
	const struct history *h = session_history(t->session);
	uint64_t limit = history_limit(h), at = t->cursor.offset;
	return at < history_oldest(h) ||
		(t->ready && limit > at && limit - at > lag_of(t) &&
			now_ms(t) - t->waiting_ms > TERMINAL_LAG_MS);
}

void terminal_schedule_receipt(struct terminal *t)
{
	t->transport->want(t->transport_user);
	start_refresh(t->all);
}

/* Send a message to a client with a session of its own: ready, pong or an error. Returns as tell_message(). */
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

/* Output was overwritten before the client read it: send an error and close. */
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

/* Where to cut a piece that may be a JSON object, so that neither part is one; length if it is none. */
static size_t find_object_end(const uint8_t *bytes, size_t length)
{
	static const char mark[] = "\xef\xbb\xbf", blanks[] = " \t\r\n";
	size_t begin = 0, end = length;
	if (length >= sizeof mark - 1 && memcmp(bytes, mark, sizeof mark - 1) == 0)
		begin = sizeof mark - 1; /* decoders skip the BOM */
	while (begin < end && is_one_of(bytes[begin], blanks))
		begin++;
	while (end > begin && is_one_of(bytes[end - 1], blanks))
		end--;
	if (end == begin || bytes[begin] != '{' || bytes[end - 1] != '}')
		return length;
	/* All closing braces go into the second part. */
	while (end > begin && is_one_of(bytes[end - 1], "} \t\r\n"))
		end--;
	return end;
}

/*
 * Send output of an own session. Its clients parse any frame that is a JSON object as a message of the server, also a binary
 * one, so output that is one is sent in two frames.
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

/* Send a message if one is due. Returns 1 when one was sent, 0 when none is due, -1 when the connection is lost. */
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
	else if (t->snapshot_due != SNAPSHOT_NONE && !prepare_picture(t))
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

/* Send the next piece of the history. Returns its length, or -1 when the connection is lost. *ret_more: call again. */
static long tell_history(struct terminal *t, size_t room, bool *ret_more)
{
	uint8_t *payload = t->all->scratch + FRAMES_HEADROOM;
	struct metrics *m = t->all->metrics;
	*ret_more = true;
	if (!t->own && !t->behind && lags(t) && pane_has_screen(&t->session->pane)) {
		fall_behind(t);
		return 0;
	}
	/* A client that is behind gets only snapshots, but the last bytes after the session's end. */
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
		/* `ready` must come before `exit`. */
		sent = (t->ready || tell_ready(t)) && tell_exit(t);
		if (sent && t->own)
			terminal_end(t, CLOSE_NORMAL, "exit");
		break;
	}
	return sent ? (long)r.length : -1;
}

/* Report the client's offset to the session, which may hold back output for it. */
static void note_taken(struct terminal *t, bool all)
{
	/* Output that is held back for this client may continue now. */
	if (t->viewer.waits && t->session && t->cursor.offset != t->viewer.offset)
		sessions_make_busy(t->session);
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
		room = pace_frame_max(
			&t->pace, room > FRAMES_PAYLOAD_MAX ? FRAMES_PAYLOAD_MAX : room);
		if (room == 0)
			return; /* until the client acknowledges */
		long n = t->snapshot.bytes ? tell_piece(t, room) : tell_history(t, room, &more);
		if (n < 0 || !more)
			return;
		sent += (size_t)n;
	}
}

void terminal_pump(struct terminal *t)
{
	bool all = !t->closing &&
		pace_frame_max(&t->pace, t->transport->room(t->transport_user)) > 0;
	if (t->session)
		note_waiting(t);
	pump(t);
	note_taken(t, all);
}
