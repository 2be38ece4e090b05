/* Following holders: their reports, their output, and their end. See sessions.c for the rest of a session's life. */
#include "shell/clock.h"
#include "shell/exec/shell_state.h"
#include "shell/held/ending.h"
#include "shell/session/internal.h"
#include "shell/session/type.h"

#include <errno.h>
#include <sys/wait.h>
#include <utlist.h>

#define FLOOD_BYTES ((size_t)8 << 10) /* in two milliseconds */

static void note_exit(struct session *session)
{
	struct sessions *s = session->table;
	if (session->state != SESSION_RUNNING || !session->pane.history.ended)
		return;
	const struct ring *ring = &session->pane.held.link.ring;
	struct ring_exit exit = {.status = 0};
	bool recorded = ring_exited(ring, &exit);
	session->exited_ms = recorded ? exit.time_ms : clock_wall_ms();
	session->exited_boot_ms = exit.boot_ms > 0 ? (int64_t)exit.boot_ms
						   : clock_boot_of_wall_ms(session->exited_ms);
	session->exit_status = exit.status;
	session->end = !recorded           ? SESSION_END_HOLDER_DIED
		: WIFSIGNALED(exit.status) ? SESSION_END_SIGNAL
					   : SESSION_END_EXITED;
	session_move(session, SESSION_EXITED);
	s->counters.exited++;
	exec_shell_ended(&session->executor);
	blocks_shell_ended(&session->blocks, session->pane.history.end_offset,
		recorded ? exec_status_of(session->exit_status) : -1, session->exited_ms);
	sessions_changed(s);
}

void session_shell_restarted(struct session *session, int wait_status, bool by_holder)
{
	struct sessions *s = session->table;
	if (by_holder) {
		/* The holder has emptied the terminal's queue too. */
		link_drop_input(&session->pane.held.link);
		typing_reset_line(&session->typing);
	}
	link_update_shell_pid(&session->pane.held.link);
	session->restarts++;
	session->restart_status = wait_status;
	s->counters.shells_restarted++;
	if (s->callbacks->restarted)
		s->callbacks->restarted(s->user, session, wait_status);
	sessions_changed(s);
}

/* The executor handles restarts in order with other records; a shell other than bash, zsh or fish has none. */
static void note_shells(struct session *session)
{
	const struct history *h = &session->pane.history;
	if (!session->executor.open && session->shells_seen != h->shells_ended)
		session_shell_restarted(session, h->shell_status, true);
	session->shells_seen = h->shells_ended;
}

/*
 * Whether the output rate is so high that it is better to collect it: a wake-up for each 4 KB that the kernel hands to
 * the holder costs more than all other processing, and takes the core from the program.
 */
static bool is_flooding(struct session *session, size_t bytes)
{
	uint64_t now = uv_now(session->table->loop);
	if (now != session->pace_ms) {
		session->pace_before = now <= session->pace_ms + 2 ? session->pace_bytes : 0;
		session->pace_bytes = 0;
		session->pace_ms = now;
	}
	session->pace_bytes += bytes;
	return session->pace_before + session->pace_bytes >= FLOOD_BYTES;
}

/* Whether no more output will follow. */
static bool is_over(const struct session *session)
{
	return session->pane.held.holder_lost;
}

/* Whether a flood is collected, and has been consumed in this millisecond: only the screen goes on. */
static bool is_collecting(const struct session *session)
{
	return session->collecting && uv_now(session->table->loop) == session->pace_ms &&
		!is_over(session);
}

/* Grows with everything that viewers are notified of. */
static uint64_t count_news(const struct session *session)
{
	const struct history *h = &session->pane.history;
	return h->scan.offset + h->events_offset + h->ended + session->restarts +
		session->title_version + session->pane.journal.count;
}

/* Notify viewers in turns until a time. Returns whether some are left. */
static bool notify_viewers(struct session *session, uint64_t until)
{
	uint64_t news = count_news(session);
	if (news != session->news_notified)
		session->viewers_due = session->presence.count;
	session->news_notified = news;
	while (session->viewers_due > 0 && session->viewers) {
		struct session_viewer *v = session->viewers;
		session->viewers_due--;
		DL_DELETE(session->viewers, v);
		DL_APPEND(session->viewers, v);
		v->more(v->user);
		if (uv_hrtime() >= until)
			break;
	}
	if (!session->viewers)
		session->viewers_due = 0;
	return session->viewers_due > 0;
}

static bool is_watched(const struct session *session)
{
	return session->viewers || journal_is_watched(&session->pane.journal) ||
		waits_are_pending(session->waits);
}

/*
 * Update the screen after the viewers, which need not wait for it; always a little. coming: more output is expected in
 * a moment. Returns whether there is more to do.
 */
static bool draw(struct session *session, uint64_t until, bool coming)
{
	bool more;
	if (session->table->adopting)
		return live_follow(&session->pane.live, 0);
	do
		more = pane_follow(&session->pane, coming, is_watched(session));
	while (more && uv_hrtime() < until);
	return more;
}

/* The smallest offset of the viewers that are reading. */
static uint64_t least_viewed(const struct session *session)
{
	uint64_t now = uv_now(session->table->loop), least = UINT64_MAX;
	const struct session_viewer *v;
	DL_FOREACH (session->viewers, v)
		if (v->read_ms > 0 && now - v->read_ms <= SESSION_VIEWER_READS_MS &&
			v->offset < least)
			least = v->offset;
	return least;
}

/* The smallest offset of the viewers for which output is held back without a time limit. */
static uint64_t least_awaited(const struct session *session)
{
	uint64_t least = UINT64_MAX;
	const struct session_viewer *v;
	DL_FOREACH (session->viewers, v)
		if (v->waits && v->offset < least)
			least = v->offset;
	return least;
}

/*
 * Release consumed output to the holder. Viewers that are reading are waited for, for a short time in total. Returns
 * whether the holder may soon block on one of them, so that this must be called again soon.
 */
static bool release_output(struct session *session, uint64_t events)
{
	struct link *link = &session->pane.held.link;
	uint64_t tail = pane_tail(&session->pane), viewed = least_viewed(session);
	bool waits = viewed < tail && ring_is_blocked(&link->ring);
	if (!patience_allows_wait(&session->patience, uv_hrtime(), waits) || viewed > tail)
		viewed = tail;
	uint64_t awaited = least_awaited(session);
	link_set_consumed(link, viewed < awaited ? viewed : awaited, events);
	return viewed < tail && stream_head(&link->ring.bytes) - viewed > link->ring.bytes.size / 2;
}

enum turn_next session_take_turn(struct held *h)
{
	struct session *session = session_of_held(h);
	struct sessions *s = session->table;
	uint64_t until = uv_hrtime() + SESSION_TURN_NS;
	if (!session->pane.history_open)
		return TURN_SLEEP;
	uint64_t before = session->pane.history.scan.offset;
	bool more = !is_collecting(session) &&
		history_consume(&session->pane.history, SESSION_TURN, is_over(session));
	uint64_t now = session->pane.history.scan.offset;
	if (now != before) {
		s->counters.bytes_out += now - before;
		pane_note_active(&session->pane);
		session->pane.output_ms = uv_now(s->loop);
	}
	uint64_t events = exec_follow(&session->executor, now);
	if (events > session->pane.history.events_offset)
		events = session->pane.history.events_offset;
	session->collecting = is_flooding(session, (size_t)(now - before)) && !more;
	note_shells(session);
	note_exit(session);
	more = notify_viewers(session, until) || more;
	journal_notify(&session->pane.journal);
	uint64_t entries = session->pane.journal.count;
	more = draw(session, until, more || session->collecting) || more;
	more = more || count_news(session) != session->news_notified;
	if (session->pane.journal.count != entries)
		journal_notify(&session->pane.journal);
	waits_check_all(session->waits);
	bool over = is_over(session), again = !over && release_output(session, events);
	if (over)
		more = more || (session->state == SESSION_RUNNING && !session->pane.history.ended);
	else if (!more && (session->collecting || again))
		return TURN_REST;
	else if (!more)
		more = !link_sleep(&h->link, now, session->pane.history.events_offset);
	return more ? TURN_MORE : TURN_SLEEP;
}

void session_schedule_turn(struct session *session)
{
	session->viewers_due = session->presence.count;
	held_schedule_turn(&session->pane.held);
}

/* Screen */

/*
 * Whether a reply to a terminal query would be typed into the session's shell, which did not ask: now, or because no
 * program reads the queued ones. The shell's own queries are few.
 */
static bool is_unwanted(struct session *session, size_t length)
{
	const struct link *link = &session->pane.held.link;
	const struct executor *x = &session->executor;
	uint64_t now = pane_now(&session->pane);
	/* In canonical mode a part of a line is not reported: replies in close succession count as unread. */
	bool reported = now >= session->replies_ms + SESSION_REPLIES_MS || exec_shell_reads_keys(x);
	session->replies_ms = now;
	if (reported && link_input_queued(link) + link_unread_input(link) == 0)
		session->replies_unread = 0;
	session->replies_unread += length;
	if (session->replies_unread > SESSION_REPLIES_MAX)
		return true;
	if (!exec_shell_is_foreground(x))
		return false;
	/* The query was made while there was no server: the program may have ended. */
	if (session->pane.live.late)
		return true;
	if (now >= session->reply_window_ms + SESSION_REPLIES_MS) {
		session->reply_window_ms = now;
		session->reply_window_bytes = 0;
	}
	session->reply_window_bytes += length;
	return session->reply_window_bytes > SESSION_REPLIES_SHELL_MAX && x->open &&
		exec_shell_is_ours(x);
}

static void on_reply(void *user, const char *bytes, size_t length)
{
	struct session *session = user;
	struct sessions *s = session->table;
	if (session->state == SESSION_RUNNING && !is_unwanted(session, length) &&
		link_write(&session->pane.held.link, bytes, length) == 0)
		s->counters.queries_answered++;
	else
		s->counters.replies_lost++;
}

/* The shell's prompt has ended: a line begins. */
static void note_mark(struct session *session, const struct screen_event *event)
{
	exec_screen_mark(&session->executor, event);
}

/* Add an event of the screen to the journal. */
static void note_event(struct session *session, const struct screen_event *event)
{
	static const int types[] = {[SCREEN_BELL] = JOURNAL_BELL,
		[SCREEN_TITLE] = JOURNAL_TITLE,
		[SCREEN_CWD] = JOURNAL_CWD,
		[SCREEN_NOTIFICATION] = JOURNAL_NOTIFICATION};
	bool is_any = event->type == SCREEN_BELL || event->type == SCREEN_TITLE ||
		event->type == SCREEN_CWD || event->type == SCREEN_NOTIFICATION;
	if (!is_any)
		return;
	journal_add(&session->pane.journal,
		&(struct journal_entry){.type = (enum journal_type)types[event->type],
			.offset = event->offset,
			.at_ms = clock_wall_ms(),
			.text = event->type == SCREEN_BELL ? NULL : (char *)(uintptr_t)event->text,
			.detail = (char *)(uintptr_t)event->detail});
}

static void on_screen_event(void *user, const struct screen_event *event)
{
	struct session *session = user;
	if (event->type == SCREEN_FOCUS)
		presence_forget_focus(&session->presence);
	else if (event->type == SCREEN_COLOR_SCHEME)
		session_report_color_scheme(session, event->number);
	else if (event->type == SCREEN_MARK && event->number == 133)
		note_mark(session, event);
	else if (event->type == SCREEN_TITLE || event->type == SCREEN_ICON)
		session->title_version++;
	note_event(session, event);
}

static const struct screen_callbacks screen_callbacks = {
	.reply = on_reply,
	.event = on_screen_event,
};

/* Open history and screen, from the ring and the checkpoints of an earlier server. */
static int open_history(struct session *session)
{
	struct link *link = &session->pane.held.link;
	const struct live_options o = {.scrollback = session->table->config.scrollback,
		.version = clock_wall_ms() * 1000,
		.unicode = session->pane.unicode,
		.callbacks = &screen_callbacks,
		.user = session};
	int rc = history_init(&session->pane.history, &link->ring, &link->control);
	if (rc < 0)
		return rc;
	if (exec_is_possible(&session->executor))
		history_set_secret(&session->pane.history, session->executor.nonce);
	if (session->pane.held.adopted)
		history_catch_up(&session->pane.history);
	rc = live_init(&session->pane.live, &session->pane.history, &o);
	if (rc < 0) {
		history_finish(&session->pane.history);
		return rc;
	}
	session->pane.history_open = true;
	session->shells_seen = session->pane.history.shells_ended;
	session_open_commands(session);
	return 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The time of the last event other than a resize in the log, from an offset where a record begins. 0: none. */
static uint64_t last_event(const struct stream *log, uint64_t from)
{
	struct event e;
	uint64_t last_ns = 0;
	for (size_t left = event_log_max(log); left > 0; left--) {
		int rc = event_read(log, &from, &e);
		if (rc <= 0)
			break;
		if (e.header.type != EVENT_RESIZE)
			last_ns = later(last_ns, e.header.time_ns);
	}
	return last_ns / 1000000;
}

/*
 * The time of the last activity in an adopted session: what the earlier server noted, and what the holder has recorded
 * since. Output while there was no server has no time, unless a command began or ended.
 */
static uint64_t last_active(const struct session *session, uint64_t now)
{
	const struct link *link = &session->pane.held.link;
	const struct stream *log = &link->ring.events;
	struct ring_exit exit = {.time_ms = 0};
	uint64_t from = control_events_tail(&link->control, stream_head(log));
	uint64_t at = later(control_active(&link->control, now), session->created_ms);
	if (ring_exited(&link->ring, &exit))
		at = later(at, exit.time_ms);
	/* If nothing was noted, use the whole log, unless its beginning is lost. */
	at = later(at, last_event(log, stream_oldest(log) > 0 ? from : 0));
	return at > 0 && at < now ? at : now;
}

void session_on_attached(struct held *h)
{
	struct session *session = session_of_held(h);
	struct sessions *s = session->table;
	if (session->state == SESSION_ENDING) {
		if (!held_ask_to_end(h, SESSIONS_KILL_GRACE_MS))
			removal_force(&h->removal);
		return;
	}
	int rc = open_history(session);
	if (rc < 0) {
		s->counters.start_failures++;
		s->callbacks->failed(s->user, h->id, "no memory for its history", rc);
		held_answer_waiters(&h->start_waiters, h, REPORT_SETUP, rc);
		session_release(session);
		return;
	}
	ring_geometry(&h->link.ring, &session->pane.rows, &session->pane.cols);
	budget_resized(&session->pane);
	session_move(session, SESSION_RUNNING);
	session->pane.activity_ms = clock_wall_ms();
	if (h->adopted) {
		session->pane.activity_ms = last_active(session, session->pane.activity_ms);
		session_restore_paste(session);
	}
	session->pane.active_ms = session->pane.output_ms = uv_now(s->loop);
	live_correct_size(&session->pane.live, session->pane.rows, session->pane.cols);
	s->counters.adopted += h->adopted;
	s->counters.created += !h->adopted;
	sessions_changed(s);
	held_run_turn(h);
	held_answer_waiters(&h->start_waiters, h, REPORT_READY, 0);
}

/* The holder is gone: kill the remaining processes and remove the directory. */
static void end_orphans(struct session *session)
{
	session->pane.held.holder_lost = true;
	if (session->state == SESSION_ENDING)
		removal_force(&session->pane.held.removal);
	else
		sessions_end(session->table, session, NULL);
}

void session_on_failed(struct held *h, enum report_stage stage, int error)
{
	struct session *session = session_of_held(h);
	struct sessions *s = session->table;
	bool died = error == -ECONNRESET;
	s->counters.start_failures++;
	if (!h->start_waiters)
		s->callbacks->failed(s->user, h->id,
			held_attach_error_text(error, "cannot attach to its holder"), error);
	held_answer_waiters(&h->start_waiters, h, stage, error);
	if (session->state == SESSION_ENDING || died || error == -ETIMEDOUT)
		end_orphans(session);
	else if (h->adopted)
		session_release(session); /* it lives: the next server may be able to attach */
	else
		sessions_remove(s, session);
}

void session_on_lost(struct held *h)
{
	struct session *session = session_of_held(h);
	struct sessions *s = session->table;
	if (session->state == SESSION_ENDING || session->state == SESSION_EXITED) {
		/* The holder was asked to end, its time to live has passed, or it was killed. */
		end_orphans(session);
		return;
	}
	s->counters.holders_lost++;
	s->callbacks->failed(s->user, h->id,
		h->taken ? "another server has attached to its holder" : "its holder has died",
		-ECONNRESET);
	if (session->pane.history_open)
		held_schedule_turn(h);
}
