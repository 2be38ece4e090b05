/*
 * See activities.h. Each session has a time of its next look, or none: a session at its prompt or
 * that has exited changes only with output or journal entries, except for input that is typed
 * ahead. A tick looks at sessions that are due, round robin; the timer runs only while one is due.
 * If memory is short, a session is left out until the next activities_sync().
 */
#include "shell/activity/activities.h"

#include "ring/utf8.h"
#include "shell/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct activities {
	struct sessions *sessions;
	const struct activities_callbacks *callbacks;
	void *user;
	uv_timer_t tick;
	struct activity *table; /* uthash */
	struct activity *last;  /* the last one that was looked at; NULL: none, or it is gone */
	struct pane_state *state;
	uint64_t version, told; /* current, and at the last changed() */
	uint64_t told_ms;       /* loop time of the last changed() */
	uint64_t opened_ms;     /* wall clock */
};

static void on_tick(uv_timer_t *timer);

static uint64_t now_of(const struct activities *a)
{
	return uv_now(a->tick.loop);
}

static void keep_ticking(struct activities *a)
{
	if (!uv_is_active((const uv_handle_t *)&a->tick) &&
		!uv_is_closing((const uv_handle_t *)&a->tick))
		uv_timer_start(&a->tick, on_tick, ACTIVITY_TICK_MS, ACTIVITY_TICK_MS);
}

static void note_change(struct activity *it)
{
	it->version = ++it->all->version;
	keep_ticking(it->all);
}

/* Schedule a look in ms, unless an earlier one is due. */
static void schedule_look(struct activity *it, uint64_t ms)
{
	uint64_t due = now_of(it->all) + ms;
	if (it->due_ms == 0 || due < it->due_ms)
		it->due_ms = due;
	keep_ticking(it->all);
}

/* Set status and input. */
static void move(struct activity *it, enum state_status status, enum state_input input)
{
	if (it->looked && it->status == status && it->input == input)
		return;
	it->status = status;
	it->input = input;
	it->since_ms = clock_wall_ms();
	note_change(it);
	if (it->all->callbacks->moved)
		it->all->callbacks->moved(it->all->user, it);
}

/* The journal */

static void copy_text(char dst[ACTIVITY_TEXT_MAX + 1], const char *text)
{
	size_t length = text ? strlen(text) : 0;
	if (length > 0)
		length = utf8_cut(text, length, ACTIVITY_TEXT_MAX);
	memcpy(dst, text ? text : "", length);
	dst[length] = '\0';
}

static void handle_entry(struct activity *it, const struct journal_entry *e)
{
	switch (e->type) {
	case JOURNAL_BLOCK_STARTED:
		/* A later look finds whether it waits for input. */
		move(it, STATE_RUNNING, STATE_INPUT_NONE);
		it->name[0] = '\0';
		break;
	case JOURNAL_BLOCK_ENDED:
		schedule_look(it, 0);
		break;
	case JOURNAL_BELL:
		it->bells++;
		it->bell_ms = e->at_ms;
		break;
	case JOURNAL_NOTIFICATION:
		it->notified++;
		it->notified_ms = e->at_ms;
		copy_text(it->text, e->text);
		copy_text(it->title, e->detail);
		break;
	case JOURNAL_TITLE:
	case JOURNAL_CWD:
		return;
	}
	note_change(it);
}

static void read_entries(struct activity *it)
{
	const struct journal *j = session_journal(it->session);
	const struct journal_entry *e;
	if (it->entry < journal_oldest(j))
		it->entry = journal_oldest(j);
	for (; (e = journal_get(j, it->entry)); it->entry++) {
		handle_entry(it, e);
		/* The journal may also have entries of an earlier server. */
		if (it->all->callbacks->happened && e->at_ms >= it->all->opened_ms)
			it->all->callbacks->happened(it->all->user, it, e);
	}
}

/* All output so far counts as seen if a client is attached. */
static void update_presence(struct activity *it)
{
	uint64_t head = session_head(it->session);
	if (session_presence(it->session)->count > 0 || head < it->seen)
		it->seen = head;
	if (it->unread != (head > it->seen)) {
		it->unread = head > it->seen;
		note_change(it);
	}
}

static void update_lease(struct activity *it)
{
	const struct lease *l = session_keyboard(it->session);
	bool is_held = lease_is_held(l, clock_wall_ms());
	if (it->lease == l->version && it->leased == is_held)
		return;
	it->lease = l->version;
	it->leased = is_held;
	note_change(it);
}

/* Looks */

static void set_cwd(struct activity *it, const char *cwd)
{
	size_t length = strlen(cwd),
	       from = length > ACTIVITY_TEXT_MAX ? length - ACTIVITY_TEXT_MAX : 0;
	it->cwd_cut = from > 0;
	while (from > 0 && ((unsigned char)cwd[from] & 0xc0) == 0x80)
		from++;
	memcpy(it->cwd, cwd + from, length - from + 1);
}

static void apply_state(struct activity *it, const struct pane_state *t)
{
	size_t length = strlen(t->cwd), kept = strlen(it->cwd);
	const char *name = t->status == STATE_PROMPT || t->status == STATE_EXITED
		? ""
		: t->foreground.name;
	char title[ACTIVITY_TEXT_MAX + 1];
	copy_text(title, t->title);
	bool same = it->looked && it->status == t->status && it->input == t->input &&
		it->certain == t->certain && strcmp(it->name, name) == 0 && kept <= length &&
		strcmp(it->cwd, t->cwd + length - kept) == 0 && (it->cwd_cut || kept == length) &&
		strcmp(it->terminal_title, title) == 0 && it->progress.state == t->progress.state &&
		it->progress.percent == t->progress.percent;
	it->pause_ms = same && it->pause_ms ? it->pause_ms * 2 : ACTIVITY_LOOK_MS;
	if (it->pause_ms > ACTIVITY_PAUSE_MAX_MS)
		it->pause_ms = ACTIVITY_PAUSE_MAX_MS;
	if (same)
		return;
	move(it, t->status, t->input);
	it->looked = true;
	it->certain = t->certain;
	snprintf(it->name, sizeof it->name, "%s", name);
	it->started_ms = t->foreground.started_ms;
	set_cwd(it, t->cwd);
	memcpy(it->terminal_title, title, sizeof title);
	it->progress = t->progress;
	note_change(it);
}

/* A program may begin or stop to wait for input without any output. */
static bool may_change_silently(const struct activity *it)
{
	return (it->status != STATE_PROMPT && it->status != STATE_EXITED) || !it->certain;
}

static void look(struct activity *it)
{
	struct activities *a = it->all;
	a->last = it;
	it->due_ms = 0;
	it->stirred_ms = 0;
	session_state(it->session, a->state);
	apply_state(it, a->state);
	if (may_change_silently(it))
		schedule_look(it, it->pause_ms);
}

/* Look at the sessions that are due, round robin. Returns whether any look is scheduled. */
static bool look_at_due(struct activities *a)
{
	uint64_t now = now_of(a);
	unsigned left = ACTIVITY_LOOKS_MAX, count = HASH_COUNT(a->table);
	struct activity *it = a->last && a->last->hh.next ? a->last->hh.next : a->table;
	bool more = false;
	for (unsigned i = 0; i < count; i++, it = it->hh.next ? it->hh.next : a->table) {
		if (it->due_ms > 0 && it->due_ms <= now && left > 0) {
			left--;
			look(it);
		}
		more = more || it->due_ms > 0;
	}
	return more;
}

static void on_tick(uv_timer_t *timer)
{
	struct activities *a = timer->data;
	bool more = look_at_due(a);
	if (a->told != a->version) {
		more = true;
		if (now_of(a) - a->told_ms >= ACTIVITY_TELL_MS) {
			a->told = a->version;
			a->told_ms = now_of(a);
			a->callbacks->changed(a->user);
		}
	}
	if (!more)
		uv_timer_stop(&a->tick);
}

/* Followed sessions */

static void on_more(void *user)
{
	struct activity *it = user;
	uint64_t quiet = now_of(it->all) + ACTIVITY_QUIET_MS;
	read_entries(it);
	update_presence(it);
	/* Look once the session is quiet, or every ACTIVITY_LOOK_MS if it never is. */
	if (it->stirred_ms == 0)
		it->stirred_ms = now_of(it->all);
	uint64_t latest = it->stirred_ms + ACTIVITY_LOOK_MS;
	/* But a look that is due already is not put off: a command has ended. */
	if (it->due_ms == 0 || it->due_ms > now_of(it->all))
		it->due_ms = latest < quiet ? latest : quiet;
	it->pause_ms = 0;
	keep_ticking(it->all);
}

static void forget(struct activity *it)
{
	struct activities *a = it->all;
	if (a->last == it)
		a->last = NULL;
	HASH_DEL(a->table, it);
	free(it);
}

static void on_gone(void *user)
{
	forget(user);
}

static void follow(struct activities *a, struct session *s)
{
	struct activity *it = calloc(1, sizeof *it);
	if (!it)
		return;
	it->session = s;
	it->all = a;
	it->status = STATE_RUNNING;
	it->since_ms = clock_wall_ms();
	it->seen = session_head(s);
	it->watcher = (struct journal_watcher){
		.more = on_more, .gone = on_gone, .user = it, .aside = true};
	HASH_ADD_PTR(a->table, session, it);
	if (!it->hh.tbl) {
		free(it);
		return;
	}
	journal_watch(session_journal(s), &it->watcher);
	read_entries(it);
	schedule_look(it, ACTIVITY_QUIET_MS);
}

void activities_sync(struct activities *a)
{
	for (struct session *s = NULL; (s = session_next(a->sessions, s));) {
		struct activity *it = NULL;
		HASH_FIND_PTR(a->table, &s, it);
		if (it) {
			update_presence(it);
			update_lease(it);
			if (s->state == SESSION_EXITED && it->status != STATE_EXITED)
				schedule_look(it, 0);
		} else if (session_is_readable(s) && s->state != SESSION_ENDING) {
			follow(a, s);
		}
	}
}

const struct activity *activities_find(const struct activities *a, const struct session *s)
{
	struct activity *it = NULL;
	if (a)
		HASH_FIND_PTR(a->table, &s, it);
	return it;
}

uint64_t activities_version(const struct activities *a)
{
	return a->version;
}

/* Creation and destruction */

static void on_closed(uv_handle_t *timer)
{
	struct activities *a = timer->data;
	free(a->state);
	free(a);
}

int activities_open(uv_loop_t *loop, struct sessions *sessions,
	const struct activities_callbacks *callbacks, void *user, struct activities **ret_activities)
{
	struct activities *a = calloc(1, sizeof *a);
	struct pane_state *state = malloc(sizeof *state);
	if (!a || !state) {
		free(a);
		free(state);
		return -ENOMEM;
	}
	*a = (struct activities){.sessions = sessions,
		.callbacks = callbacks,
		.user = user,
		.state = state,
		.opened_ms = clock_wall_ms(),
		.version = 1};
	uv_timer_init(loop, &a->tick); /* cannot fail */
	a->tick.data = a;
	uv_unref((uv_handle_t *)&a->tick);
	*ret_activities = a;
	return 0;
}

void activities_close(struct activities *a)
{
	struct activity *it, *next;
	if (!a)
		return;
	HASH_ITER (hh, a->table, it, next) {
		journal_unwatch(session_journal(it->session), &it->watcher);
		forget(it);
	}
	uv_close((uv_handle_t *)&a->tick, on_closed);
}
