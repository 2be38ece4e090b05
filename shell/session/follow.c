/*
 * Following holders: what they report, what they write, whose turn it is to be read, and the end of it.
 * See sessions.c for the rest of a session's life.
 */
#include "shell/clock.h"
#include "shell/session/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#define FLOOD_BYTES ((size_t)8 << 10) /* in two milliseconds */

/* What commands have been given as their input. Closes fd. */
static void remove_inputs(int fd)
{
	DIR *dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	for (struct dirent *entry; (entry = readdir(dir));)
		if (strncmp(entry->d_name, "input.", 6) == 0)
			unlinkat(fd, entry->d_name, 0);
	closedir(dir);
}

void session_remove_directory(struct sessions *s, const char *name)
{
	static const char *const files[] = {WIRE_SOCKET, WIRE_FIFO, WIRE_FIFO_STDOUT,
		WIRE_FIFO_STDERR, "meta.json", "meta.json.new", "ending", INTEGRATION_FILE,
		INTEGRATION_FILE_NEW, "execs", "execs.new", "blocks", "blocks.new"};
	int fd = openat(s->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		unlinkat(fd, files[i], 0);
	remove_inputs(fd);
	if (unlinkat(s->dir_fd, name, AT_REMOVEDIR) < 0)
		s->callbacks->failed(s->user, "", "cannot remove a session's directory", -errno);
}

void session_free(struct session *session)
{
	free(session->pane.held.directory);
	free(session->pane.cwd);
	free(session->pane.shell);
	free(session);
}

static void on_link_closed(void *user)
{
	session_free(user);
}

void session_answer(
	struct session_waiter **list, struct session *session, enum report_stage stage, int error)
{
	while (*list) {
		struct session_waiter *w = *list;
		*list = w->next;
		w->done(w->user, session, stage, error);
	}
}

/* Take a session out of everything and release it. Its viewers and waiters are told. */
void session_release(struct sessions *s, struct session *session, bool deleted)
{
	struct session_viewer *v, *next;
	if (session->state == SESSION_ENDING)
		DL_DELETE(s->ending, session);
	else
		HASH_DEL(s->table, session);
	removal_cancel(&session->pane.held.removal);
	turn_forget(&s->held.turns, &session->pane.held.turn);
	DL_FOREACH_SAFE (session->viewers, v, next) {
		DL_DELETE(session->viewers, v);
		v->gone(v->user, deleted);
	}
	session_close_commands(session);
	if (session->pane.history_open) {
		live_finish(&session->pane.live);
		history_finish(&session->pane.history);
	}
	session->pane.history_open = false;
	link_close(&session->pane.held.link, on_link_closed);
}

void sessions_remove(struct sessions *s, struct session *session, bool deleted)
{
	session_remove_directory(s, session->pane.held.directory);
	session_release(s, session, deleted);
	sessions_changed(s);
}

static void note_exit(struct session *session)
{
	struct sessions *s = session->table;
	if (session->state != SESSION_RUNNING || !session->pane.history.ended)
		return;
	const struct ring_header *header = session->pane.held.link.ring.header;
	bool recorded = atomic_load(&header->exited);
	session->exited_ms = recorded ? header->exit_time_ns / 1000000 : clock_wall_ms();
	session->exit_status = recorded ? header->exit_status : 0;
	session->end = !recorded                    ? SESSION_END_HOLDER_DIED
		: WIFSIGNALED(session->exit_status) ? SESSION_END_SIGNAL
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
	return bytes > 0 && session->pace_before + session->pace_bytes >= FLOOD_BYTES;
}

enum turn_next session_take_turn(struct turn *turn)
{
	struct session *session = session_of_held(held_of_turn(turn));
	struct sessions *s = session->table;
	struct session_viewer *v, *next;
	if (!session->pane.history_open)
		return TURN_OVER;
	uint64_t before = session->pane.history.scan.offset;
	bool more = history_consume(
		&session->pane.history, SESSION_TURN, session->pane.held.holder_lost);
	uint64_t now = session->pane.history.scan.offset;
	if (now != before) {
		s->counters.bytes_out += now - before;
		session->pane.activity_ms = clock_wall_ms();
		session->pane.output_ms = uv_now(s->loop);
	}
	uint64_t events = exec_follow(&session->executor, now);
	if (events > session->pane.history.events_offset)
		events = session->pane.history.events_offset;
	note_shells(session);
	note_exit(session);
	DL_FOREACH_SAFE (session->viewers, v, next)
		v->more(v->user);
	journal_tell(&session->pane.journal);
	/* The screen after the viewers: they need not wait for it. */
	uint64_t entries = session->pane.journal.count;
	more = live_follow(&session->pane.live, s->adopting ? 0 : LIVE_WORK) || more;
	if (session->pane.journal.count != entries)
		journal_tell(&session->pane.journal);
	waits_follow(session->waits);
	if (!session->pane.held.holder_lost)
		link_consumed(&session->pane.held.link, live_tail(&session->pane.live), events);
	if (session->pane.held.holder_lost)
		more = more || (session->state == SESSION_RUNNING && !session->pane.history.ended);
	else if (!more && floods(session, (size_t)(now - before)))
		return TURN_REST;
	else if (!more)
		more = !link_sleep(
			&session->pane.held.link, now, session->pane.history.events_offset);
	return more ? TURN_MORE : TURN_OVER;
}

void sessions_make_busy(struct sessions *s, struct session *session)
{
	(void)s;
	held_make_busy(&session->pane.held);
}

static void on_wake(void *user)
{
	struct held *h = &((struct session *)user)->pane.held;
	if (h->turn.state != TURN_BUSY)
		turn_take(&h->table->turns, &h->turn);
}

/* The screen's side */

static void on_reply(void *user, const char *bytes, size_t length)
{
	struct session *session = user;
	struct sessions *s = session->table;
	if (session->state == SESSION_RUNNING &&
		link_write(&session->pane.held.link, bytes, length) == 0)
		s->counters.queries_answered++;
	else
		s->counters.replies_lost++;
}

/* A line begins where the shell's prompt ends. */
static void note_mark(struct session *session, const char *text)
{
	unsigned row, col;
	if (!session->pane.live.screen)
		return;
	const struct screen *screen = session->pane.live.screen;
	screen_cursor(screen, &row, &col);
	exec_screen_mark(&session->executor, text,
		screen_dropped(screen) + screen_scrollback(screen) + row, col + 1);
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
		note_mark(session, event->text);
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
		.callbacks = &screen_callbacks,
		.user = session};
	int rc = history_init(&session->pane.history, &link->ring, link->control);
	if (rc < 0)
		return rc;
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

static void on_attached(void *user)
{
	struct session *session = user;
	struct sessions *s = session->table;
	if (session->state == SESSION_ENDING) {
		if (link_end(&session->pane.held.link, SESSIONS_KILL_GRACE_MS) < 0)
			removal_force(&session->pane.held.removal);
		return;
	}
	session->pane.held.unresponsive = false;
	int rc = open_history(session);
	if (rc < 0) {
		s->counters.start_failures++;
		s->callbacks->failed(
			s->user, session->pane.held.id, "no memory for its history", rc);
		session_answer(&session->waiters, session, REPORT_SETUP, rc);
		session_release(s, session, false);
		return;
	}
	uint32_t geometry = atomic_load(&session->pane.held.link.ring.header->geometry);
	session->pane.rows = geometry >> 16;
	session->pane.cols = geometry & 0xffff;
	session_move(session, SESSION_RUNNING);
	session->pane.activity_ms = clock_wall_ms();
	session->pane.output_ms = uv_now(s->loop);
	live_settle(&session->pane.live, session->pane.rows, session->pane.cols);
	s->counters.adopted += session->pane.held.adopted;
	s->counters.created += !session->pane.held.adopted;
	sessions_changed(s);
	turn_take(&s->held.turns, &session->pane.held.turn);
	session_answer(&session->waiters, session, REPORT_READY, 0);
}

static void on_failed(void *user, enum report_stage stage, int error)
{
	struct session *session = user;
	struct sessions *s = session->table;
	bool died = error == -ECONNRESET;
	s->counters.start_failures++;
	if (!session->waiters)
		s->callbacks->failed(
			s->user, session->pane.held.id, "cannot attach to its holder", error);
	session_answer(&session->waiters, session, stage, error);
	if (session->state == SESSION_ENDING || died || error == -ETIMEDOUT)
		session_end_orphans(session);
	else if (session->pane.held.adopted)
		session_release(s, session, false); /* it lives: the next server may be able to */
	else
		sessions_remove(s, session, false);
}

static void on_lost(void *user, bool taken)
{
	struct session *session = user;
	struct sessions *s = session->table;
	session->pane.held.taken = taken;
	if (session->state == SESSION_RUNNING && !taken)
		session->lost_ticks = removal_ticks();
	session->pane.held.holder_lost = true;
	if (session->state == SESSION_ENDING || session->state == SESSION_EXITED) {
		/* Asked for, or its time to live has passed, or it was killed. */
		session_end_orphans(session);
		return;
	}
	s->counters.holders_lost++;
	s->callbacks->failed(s->user, session->pane.held.id,
		taken ? "another server has taken it" : "its holder has died", -ECONNRESET);
	if (session->pane.history_open)
		sessions_make_busy(s, session);
}

static void on_ended(void *user, int error)
{
	session_on_ended(user, error);
}

static void on_terminal(void *user, const char *path)
{
	struct session *session = user;
	exec_error_terminal(&session->executor, path);
}

const struct link_callbacks session_link_callbacks = {
	.terminal = on_terminal,
	.attached = on_attached,
	.failed = on_failed,
	.wake = on_wake,
	.lost = on_lost,
	.ended = on_ended,
};
