/*
 * Sends messages and output to clients. Nothing is queued: while the transport has room, terminal_pump() determines what is
 * next. Flags and versions show which messages are due, the cursor which bytes.
 */
#include "ws/socket/terminal_internal.h"

#include "ring/utf8.h"
#include "shell/json_read.h"
#include "ws/request.h"
#include "ws/json/block.h"
#include "ws/json/session.h"
#include "ws/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
			session_find_typed(s, &t->viewer, &taken) ? json_integer((json_int_t)taken)
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

/* A paste was refused. */
static bool tell_paste(struct terminal *t)
{
	const struct paste_refusal r = t->refusals[0];
	t->refusals_count--;
	memmove(t->refusals, t->refusals + 1, t->refusals_count * sizeof r);
	json_t *m = json_pack("{s:s, s:I, s:s, s:s}", "type", "paste", "id", (json_int_t)r.id,
		"code", r.code, "message", r.message);
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
	if (!session_find_receipt(t->session, &t->viewer, ret_taken))
		*ret_taken = t->viewer.typed;
	return *ret_taken > t->input_told;
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

/* Send the head of a snapshot; its bytes follow. */
static bool tell_snapshot(struct terminal *t)
{
	static const char *const reasons[] = {
		[SNAPSHOT_LAG] = "lag", [SNAPSHOT_REQUEST] = "request", [SNAPSHOT_ATTACH] = "attach"};
	enum snapshot_reason reason = t->snapshot_due;
	struct picture picture;
	uint64_t skipped;
	if (!terminal_begin_snapshot(t, &picture, &skipped))
		return true;
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
		terminal_drop_snapshot(t); /* none is made meanwhile */
	t->all->metrics->bytes_sent += length;
	pace_sent(&t->pace, length, terminal_now_ms(t));
	return t->transport->send(t->transport_user, payload, length, FRAME_BINARY) ? (long)length
										    : -1;
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
	else if (t->refusals_count > 0)
		sent = tell_paste(t);
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
	else if (t->snapshot_due != SNAPSHOT_NONE && !terminal_prepare_snapshot(t))
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
		sent = is_block(e) ? tell_block(t, e) : tell_notification(t, e);
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
	if (terminal_check_lag(t))
		return 0;
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
		pace_sent(&t->pace, r.length, terminal_now_ms(t));
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
		session_schedule_turn(t->session);
	t->viewer.offset = t->cursor.offset;
	if (t->behind || !t->session || !(t->sync_told || t->snapshot.bytes))
		t->viewer.read_ms = 0;
	else if (all)
		t->viewer.read_ms = terminal_now_ms(t);
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
		if (terminal_fill_up(t))
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
		terminal_note_waiting(t);
	pump(t);
	note_taken(t, all);
}
