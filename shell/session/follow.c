/*
 * Following holders: what they report, what they write, and the end of it.
 * See sessions.c for the rest of a session's life.
 */
#include "shell/clock.h"
#include "shell/exec/shell.h"
#include "shell/held/ending.h"
#include "shell/session/internal.h"

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
		/* The terminal has been emptied of it, too. */
		link_drop_input(&session->pane.held.link);
		typing_at_prompt(&session->typing);
	}
	link_follow_shell(&session->pane.held.link);
	session->restarts++;
	session->restart_status = wait_status;
	s->counters.shells_restarted++;
	if (s->callbacks->restarted)
		s->callbacks->restarted(s->user, session, wait_status);
	sessions_changed(s);
}

/* The executor sees to that in its place among all else; a shell that is no bash has none. */
static void note_shells(struct session *session)
{
	const struct history *h = &session->pane.history;
	if (!session->executor.open && session->shells_seen != h->shells_ended)
		session_shell_restarted(session, h->shell_status, true);
	session->shells_seen = h->shells_ended;
}

/*
 * Whether so much comes that it is better collected: a wake-up for each 4 KB that the kernel hands to the
 * holder costs more than all else that is done with them, and takes the core from the program.
 */
static bool floods(struct session *session, size_t bytes)
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

/* Whether nothing will follow. */
static bool is_over(const struct session *session)
{
	return session->pane.held.holder_lost;
}

/* Whether it had consumed all in this very millisecond, of a flood: the screen may go on, the rest is better collected. */
static bool collects(const struct session *session)
{
	return session->collecting && uv_now(session->table->loop) == session->pace_ms &&
		!is_over(session);
}

/* Grows with everything that viewers are told in a turn. */
static uint64_t news_of(const struct session *session)
{
	const struct history *h = &session->pane.history;
	return h->scan.offset + h->events_offset + h->ended + session->restarts +
		session->title_version + session->pane.journal.count;
}

/* Let viewers have what there is, in turns, until it is time for others. Returns whether some are still to have it. */
static bool serve_viewers(struct session *session, uint64_t until)
{
	uint64_t news = news_of(session);
	if (news != session->news_told)
		session->viewers_due = session->presence.count;
	session->news_told = news;
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
		waits_any(session->waits);
}

/*
 * The screen after the viewers, who need not wait for it; a little of it always. coming: there will be more in a moment.
 * Returns whether there is more to be done here.
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

/* Where the viewer is that has come least far of those that read. */
static uint64_t least_viewed(const struct session *session)
{
	uint64_t now = uv_now(session->table->loop), least = UINT64_MAX;
	const struct session_viewer *v;
	DL_FOREACH (session->viewers, v)
		if (v->taken_ms > 0 && now - v->taken_ms <= SESSION_VIEWER_READS_MS &&
			v->offset < least)
			least = v->offset;
	return least;
}

/* The same of those for which output is held back in any case. */
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
 * Give the holder what nobody needs any more. Viewers that read are waited for, for a short time in all. Returns
 * whether the holder may come to wait for one of them, so that it has to be looked at again soon.
 */
static bool give_back(struct session *session, uint64_t events)
{
	struct link *link = &session->pane.held.link;
	uint64_t tail = pane_tail(&session->pane), viewed = least_viewed(session);
	bool waits = viewed < tail && ring_is_blocked(&link->ring);
	if (!patience_lasts(&session->patience, uv_hrtime(), waits) || viewed > tail)
		viewed = tail;
	uint64_t awaited = least_awaited(session);
	link_consumed(link, viewed < awaited ? viewed : awaited, events);
	return viewed < tail && stream_head(&link->ring.bytes) - viewed > link->ring.bytes.size / 2;
}

enum turn_next session_take_turn(struct held *h)
{
	struct session *session = session_of_held(h);
	struct sessions *s = session->table;
	uint64_t until = uv_hrtime() + SESSION_TURN_NS;
	if (!session->pane.history_open)
		return TURN_OVER;
	uint64_t before = session->pane.history.scan.offset;
	bool more = !collects(session) &&
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
	session->collecting = floods(session, (size_t)(now - before)) && !more;
	note_shells(session);
	note_exit(session);
	more = serve_viewers(session, until) || more;
	journal_tell(&session->pane.journal);
	uint64_t entries = session->pane.journal.count;
	more = draw(session, until, more || session->collecting) || more;
	more = more || news_of(session) != session->news_told;
	if (session->pane.journal.count != entries)
		journal_tell(&session->pane.journal);
	waits_follow(session->waits);
	bool over = is_over(session), again = !over && give_back(session, events);
	if (over)
		more = more || (session->state == SESSION_RUNNING && !session->pane.history.ended);
	else if (!more && (session->collecting || again))
		return TURN_REST;
	else if (!more)
		more = !link_sleep(&h->link, now, session->pane.history.events_offset);
	return more ? TURN_MORE : TURN_OVER;
}

void sessions_make_busy(struct sessions *s, struct session *session)
{
	(void)s;
	session->viewers_due = session->presence.count;
	held_make_busy(&session->pane.held);
}

/* The screen's side */

/*
 * Whether an answer would be typed into our shell, which has not asked: at once, or because no program reads what is there. The
 * shell's own questions are few.
 */
static bool is_unwanted(struct session *session, size_t length)
{
	const struct link *link = &session->pane.held.link;
	const struct executor *x = &session->executor;
	uint64_t now = pane_now(&session->pane);
	if (link_input_queued(link) + link_unread(link) == 0)
		session->replies_unread = 0;
	session->replies_unread += length;
	if (session->replies_unread > SESSION_REPLIES_MAX)
		return true;
	if (!exec_shell_in_front(x))
		return false;
	/* What was asked while there was no server: whoever asked may have gone. */
	if (session->pane.live.late)
		return true;
	if (now >= session->replies_since_ms + SESSION_REPLIES_MS) {
		session->replies_since_ms = now;
		session->replies_since = 0;
	}
	session->replies_since += length;
	return session->replies_since > SESSION_REPLIES_SHELL_MAX && x->open &&
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

/* A line begins where the shell's prompt ends. */
static void note_mark(struct session *session, const struct screen_event *event)
{
	exec_screen_mark(&session->executor, event);
}

/* What those who follow the session's events are told. */
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

/* History and screen, from the ring and what an earlier server has left. */
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
	if (session->executor.possible)
		history_keep_secret(&session->pane.history, session->executor.nonce);
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

/* When the holder last wrote down more than another size, from an offset of its log at which a record begins. 0: never. */
static uint64_t last_event(const struct stream *log, uint64_t from)
{
	struct event e;
	uint64_t last_ns = 0;
	for (size_t left = event_log_most(log); left > 0; left--) {
		int rc = event_read(log, &from, &e);
		if (rc <= 0)
			break;
		if (e.header.type != EVENT_RESIZE)
			last_ns = later(last_ns, e.header.time_ns);
	}
	return last_ns / 1000000;
}

/*
 * When something last happened in a session that an earlier server had: what that one has noted, and what its holder has
 * written down since. Output that came while there was no server, with no command that began or ended, has no time.
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
	/* Where nothing has been noted yet all of the log counts, if all of it is there. */
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
		held_answer(&h->starters, h, REPORT_SETUP, rc);
		session_release(session);
		return;
	}
	ring_geometry(&h->link.ring, &session->pane.rows, &session->pane.cols);
	budget_resized(&session->pane);
	session_move(session, SESSION_RUNNING);
	session->pane.activity_ms = clock_wall_ms();
	if (h->adopted)
		session->pane.activity_ms = last_active(session, session->pane.activity_ms);
	session->pane.output_ms = uv_now(s->loop);
	live_settle(&session->pane.live, session->pane.rows, session->pane.cols);
	s->counters.adopted += h->adopted;
	s->counters.created += !h->adopted;
	sessions_changed(s);
	held_take_turn(h);
	held_answer(&h->starters, h, REPORT_READY, 0);
}

/* Its holder is not there any more: who of its processes still lives is ended, and its directory removed. */
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
	if (!h->starters)
		s->callbacks->failed(
			s->user, h->id, held_why(error, "cannot attach to its holder"), error);
	held_answer(&h->starters, h, stage, error);
	if (session->state == SESSION_ENDING || died || error == -ETIMEDOUT)
		end_orphans(session);
	else if (h->adopted)
		session_release(session); /* it lives: the next server may be able to */
	else
		sessions_remove(s, session);
}

void session_on_lost(struct held *h)
{
	struct session *session = session_of_held(h);
	struct sessions *s = session->table;
	if (session->state == SESSION_ENDING || session->state == SESSION_EXITED) {
		/* Asked for, or its time to live has passed, or it was killed. */
		end_orphans(session);
		return;
	}
	s->counters.holders_lost++;
	s->callbacks->failed(s->user, h->id,
		h->taken ? "another server has taken it" : "its holder has died", -ECONNRESET);
	if (session->pane.history_open)
		held_make_busy(h);
}
