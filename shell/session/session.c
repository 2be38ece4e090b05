/* What a session does between its start and its end. See sessions.c for those. */
#include "shell/session/session.h"

#include "ring/receipts.h"
#include "shell/clock.h"
#include "shell/own_error.h"
#include "shell/session/internal.h"
#include "shell/session/meta.h"
#include "shell/session/sessions.h"
#include "shell/session/type.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* xterm ctlseqs: FocusIn, FocusOut. */
#define FOCUS_IN "\033[I"
#define FOCUS_OUT "\033[O"
#define FOCUS_LENGTH 3u

const char *session_state_name(const struct session *s)
{
	static const char *const names[] = {[SESSION_STARTING] = "starting",
		[SESSION_RUNNING] = "running",
		[SESSION_EXITED] = "exited",
		[SESSION_ENDING] = "ending"};
	return session_check_responsive(s) == -ERR_UNRESPONSIVE ? "unresponsive" : names[s->state];
}

void session_move(struct session *s, enum session_life state)
{
	s->state = state;
	s->pane.life = (struct pane_life){.runs = state == SESSION_RUNNING,
		.exited = state == SESSION_EXITED,
		.status_known = session_end_is_known(s->end),
		.status = s->exit_status,
		.exited_ms = s->exited_ms};
}

int session_check_responsive(const struct session *s)
{
	if (s->state == SESSION_STARTING && s->pane.held.unresponsive)
		return -ERR_UNRESPONSIVE;
	return pane_check_responsive(&s->pane);
}

uint64_t session_head(const struct session *s)
{
	return pane_head(&s->pane);
}

uint64_t session_oldest(const struct session *s)
{
	return s->pane.history_open ? history_oldest(&s->pane.history) : 0;
}

/* Notify viewers, readers of the journal, and clients that list sessions. */
static void notify_viewers(struct session *s)
{
	struct session_viewer *v;
	DL_FOREACH (s->viewers, v)
		v->changed(v->user);
	journal_notify(&s->pane.journal);
	sessions_changed(s->table);
}

static int resize(struct session *s, unsigned rows, unsigned cols)
{
	if (rows < 1 || cols < 1 || rows > PRESENCE_SIDE_MAX || cols > PRESENCE_SIDE_MAX)
		return -EINVAL;
	if (s->state != SESSION_RUNNING)
		return -ERR_NOT_RUNNING;
	if (!budget_allows(&s->table->screens, &s->pane, rows, cols))
		return -ERR_SCREEN_BUDGET;
	int rc = error_of_holder(link_resize(&s->pane.held.link, rows, cols));
	if (rc < 0)
		return rc;
	s->pane.rows = rows;
	s->pane.cols = cols;
	budget_resized(&s->pane);
	sessions_changed(s->table);
	return 0;
}

/* Apply a change of presence. before: its version before the change. */
static void apply_presence(struct session *s, uint64_t before)
{
	unsigned rows, cols;
	bool resizes = presence_size(&s->presence, &rows, &cols) &&
		(rows != s->pane.rows || cols != s->pane.cols);
	/* Other errors do not matter: the session has ended, or is about to. */
	s->size_refused = resizes && resize(s, rows, cols) == -ERR_SCREEN_BUDGET;
	if (s->presence.version != before)
		notify_viewers(s);
}

static void on_modes_seen(void *user)
{
	struct session *s = user;
	const struct screen *screen = pane_unlent_screen(&s->pane);
	if (!screen || !screen_modes(screen)->focus)
		return;
	session_end_paste(s, s->typing.paste_typist); /* the report would become part of it */
	session_write(s, s->presence.focused ? FOCUS_IN : FOCUS_OUT, FOCUS_LENGTH);
}

/*
 * Report the focus to the program if it has enabled focus reports (DECSET 1004). The screen may have to parse output
 * first; then the focus of that time is reported.
 */
static void report_focus(struct session *s)
{
	if (s->focus.state != LOOK_IDLE)
		return;
	s->focus = (struct look){.seen = on_modes_seen, .user = s};
	if (pane_look(&s->pane, &s->focus))
		on_modes_seen(s);
}

void session_attach(struct session *s, struct session_viewer *v)
{
	uint64_t before = s->presence.version;
	struct attendee *a = &v->attendee;
	if (!typing_is_allowed(&s->typing, NULL)) {
		presence_defer_window(a, a->rows, a->cols);
		a->rows = a->cols = 0;
	}
	presence_join(&s->presence, &v->attendee);
	DL_APPEND(s->viewers, v);
	apply_presence(s, before);
}

void session_detach(struct session *s, struct session_viewer *v)
{
	const struct typist by = {.client = v->attendee.id, .key = v->key};
	struct session_viewer *found;
	DL_SEARCH_SCALAR(s->viewers, found, attendee.id, v->attendee.id);
	if (found != v)
		return;
	uint64_t before = s->presence.version;
	DL_DELETE(s->viewers, v);
	session_end_paste(s, typing_typist_id(&by));
	if (presence_leave(&s->presence, &v->attendee))
		report_focus(s);
	pane_note_active(&s->pane);
	apply_presence(s, before);
}

static void apply_theme(struct session *s, const struct session_viewer *v)
{
	if (v->has_theme && v->attendee.role != ROLE_VIEWER)
		pane_set_theme(&s->pane, &v->theme);
}

void session_use_theme(struct session *s, const struct session_viewer *v, const char *lease)
{
	const struct attendee *a;
	if (!typing_is_allowed(&s->typing, lease))
		return;
	LL_FOREACH (s->presence.first, a)
		if (a->typed_ms > v->attendee.typed_ms)
			return;
	apply_theme(s, v);
}

void session_report_color_scheme(struct session *s, int scheme)
{
	char report[16];
	int length = snprintf(report, sizeof report, "\033[?997;%dn", scheme);
	session_end_paste(s, s->typing.paste_typist); /* the report would become part of it */
	session_write(s, report, (size_t)length);
}

int session_write(struct session *s, const void *bytes, size_t length)
{
	return exec_write(&s->executor, bytes, length);
}

static bool is_focus_report(const void *bytes, size_t length)
{
	return length == FOCUS_LENGTH &&
		(memcmp(bytes, FOCUS_IN, length) == 0 || memcmp(bytes, FOCUS_OUT, length) == 0);
}

static struct typist typist_of(const struct session_viewer *v, const char *lease)
{
	return (struct typist){.author = v->attendee.author,
		.label = v->attendee.name,
		.client = v->attendee.id,
		.key = v->key,
		.lease = lease,
		.person = true};
}

static int type(struct session *s, struct session_viewer *v, const struct typist *by,
	const void *bytes, size_t length)
{
	if (is_focus_report(bytes, length)) {
		if (presence_focus(&s->presence, &v->attendee, memcmp(bytes, FOCUS_IN, length) == 0))
			report_focus(s);
		return s->state == SESSION_RUNNING ? 0 : -ERR_NOT_RUNNING;
	}
	uint64_t before = s->presence.version;
	int rc = session_type_as(s, by, bytes, length, NULL);
	/* A client that only interrupts does not get the size from the holder of the lease. */
	if (rc < 0 || !typing_is_allowed(&s->typing, by->lease))
		return rc;
	presence_type(&s->presence, &v->attendee, s->pane.activity_ms);
	apply_presence(s, before);
	apply_theme(s, v);
	return 0;
}

/* Type these bytes for `counted` bytes of the client. */
static int type_counted(struct session *s, struct session_viewer *v, const struct typist *by,
	const void *bytes, size_t length, size_t counted)
{
	const struct link *l = &s->pane.held.link;
	if (v->key == 0)
		return type(s, v, by, bytes, length);
	/* Paste marks go in front of the client's bytes and are not counted as its own. */
	if (typing_is_allowed(&s->typing, by->lease) && !is_focus_report(bytes, length))
		(void)session_switch_paste(s, by, bytes, length);
	uint64_t begin = link_input_end(l);
	v->typed += counted;
	receipts_note(&l->control, v->key, v->typed, begin + length, length);
	int rc = type(s, v, by, bytes, length);
	/* Of refused or held input nothing is in the queue: without this, the receipt would wait for other input. */
	uint64_t written = link_input_end(l) - begin;
	if (written < length)
		receipts_correct(&l->control, begin + written, length - (size_t)written);
	return rc;
}

int session_type(struct session *s, struct session_viewer *v, const char *lease, const void *bytes,
	size_t length)
{
	const struct typist by = typist_of(v, lease);
	return type_counted(s, v, &by, bytes, length, length);
}

int session_paste(struct session *s, struct session_viewer *v, const char *lease,
	struct session_paste *p, const void *bytes, size_t length)
{
	struct typist by = typist_of(v, lease);
	struct typing_cleaner cleaner = p->cleaner;
	char *text = malloc(length + 1);
	assert(length <= p->left);
	p->left -= length;
	if (!text) {
		session_refuse_input(s, v, length);
		return -ENOMEM;
	}
	by.pastes = p->bracketed;
	/* The program that has read the marker is gone, and the shell would take the rest for keys. */
	if (p->begun && p->ends != s->executor.ends)
		session_reopen_paste(s, typing_typist_id(&by));
	p->ends = s->executor.ends;
	size_t n = typing_clean(&cleaner, bytes, length, text);
	/* With both markers, which are no bytes of the client. */
	bool fits = exec_input_waiting(&s->executor) + TYPING_PASTE_SIZE(n) <= LINK_INPUT_MAX;
	int rc = fits ? type_counted(s, v, &by, text, n, length) : -ENOBUFS;
	free(text);
	if (!fits)
		session_refuse_input(s, v, length);
	if (rc < 0)
		return rc;
	p->begun = true;
	p->cleaner = cleaner;
	if (p->bracketed && p->left == 0)
		session_complete_paste(s, typing_typist_id(&by));
	return 0;
}

void session_cancel_paste(struct session *s, const struct session_viewer *v)
{
	const struct typist by = typist_of(v, NULL);
	session_complete_paste(s, typing_typist_id(&by));
}

void session_refuse_input(struct session *s, struct session_viewer *v, size_t length)
{
	v->typed += length;
	if (v->key > 0)
		receipts_note(&s->pane.held.link.control, v->key, v->typed,
			link_input_end(&s->pane.held.link), 0);
}

bool session_find_receipt(
	const struct session *s, const struct session_viewer *v, uint64_t *ret_taken)
{
	return receipts_find(&s->pane.held.link.control, v->key, ret_taken);
}

bool session_find_typed(const struct session *s, const struct session_viewer *v, uint64_t *ret_typed)
{
	return receipts_find_noted(&s->pane.held.link.control, v->key, ret_typed);
}

/* The lease has changed: windows that waited for its end may count. */
static void lease_changed(struct session *s)
{
	struct session_viewer *v;
	uint64_t before = s->presence.version;
	if (typing_is_allowed(&s->typing, NULL))
		DL_FOREACH (s->viewers, v)
			presence_apply_window(&s->presence, &v->attendee);
	apply_presence(s, before);
	notify_viewers(s);
	waits_check_soon(s->waits);
}

int session_acquire_lease(struct session *s, const struct lease_terms *terms)
{
	if (s->state != SESSION_RUNNING)
		return -ERR_NOT_RUNNING;
	int rc = lease_acquire(&s->typing.lease, terms, clock_wall_ms());
	if (rc == 0) {
		lease_changed(s);
		session_update_lease(s);
	}
	return rc;
}

bool session_release_lease(struct session *s, const char *id, const struct lease_note *note)
{
	struct lease *l = &s->typing.lease;
	uint64_t now = clock_wall_ms();
	bool released = id ? lease_release(l, id, now) : lease_is_held(l, now);
	if (!released)
		return false;
	if (!id)
		lease_clear(l);
	if (note)
		lease_leave_note(l, note->text, note->by, note->author, now);
	lease_changed(s);
	return true;
}

void session_update_lease(struct session *s)
{
	struct lease *l = &s->typing.lease;
	uint64_t now = clock_wall_ms();
	const struct block *b = blocks_running(&s->blocks);
	/* Of the block of an exec ignore the end, which is a little later than the exec's. */
	bool runs = s->executor.current || (b && !b->exec[0]);
	if (lease_expire(l, now) || (l->heir.id[0] && !runs && lease_hand_over(l, now)))
		lease_changed(s);
}

bool session_set_window(struct session *s, struct session_viewer *v, const char *lease,
	unsigned rows, unsigned cols)
{
	uint64_t before = s->presence.version;
	/* The window of a client that only watches never counts, so it need not wait for the lease. */
	if (v->attendee.role != ROLE_VIEWER && !typing_is_allowed(&s->typing, lease)) {
		presence_defer_window(&v->attendee, rows, cols);
		return false;
	}
	presence_window(&s->presence, &v->attendee, rows, cols);
	apply_presence(s, before);
	return true;
}

int session_resize(struct session *s, unsigned rows, unsigned cols)
{
	uint64_t before = s->presence.version;
	enum size_policy policy = s->presence.policy;
	if (s->state == SESSION_RUNNING && (policy == SIZE_SMALLEST || policy == SIZE_OWNER))
		return -EPERM;
	int rc = session_check_responsive(s);
	if (rc == 0)
		rc = resize(s, rows, cols);
	if (rc < 0)
		return rc;
	presence_clear_size(&s->presence);
	apply_presence(s, before);
	return 0;
}

int session_set_size_policy(struct session *s, enum size_policy policy, unsigned rows, unsigned cols)
{
	int rc = session_check_responsive(s);
	/* Fixing the present size causes no resize event. */
	bool resizes = policy == SIZE_FIXED && (rows != s->pane.rows || cols != s->pane.cols);
	if (rc < 0)
		return rc;
	struct presence before = s->presence;
	presence_set_policy(&s->presence, policy);
	rc = meta_save(s->pane.held.link.dir_fd, s);
	bool saved = rc == 0;
	if (saved && resizes)
		rc = resize(s, rows, cols);
	if (rc < 0)
		s->presence = before;
	if (rc < 0 && saved)
		(void)meta_save(s->pane.held.link.dir_fd, s); /* the error is that of resize() */
	apply_presence(s, before.version);
	return rc;
}

int session_signal(struct session *s, int signo, enum wire_target target)
{
	int rc = session_check_responsive(s);
	return rc == 0 ? error_of_holder(link_signal(&s->pane.held.link, signo, target)) : rc;
}

int session_rename(struct session *s, const char *name)
{
	char previous[sizeof s->name];
	snprintf(previous, sizeof previous, "%s", s->name);
	snprintf(s->name, sizeof s->name, "%s", name);
	int rc = meta_save(s->pane.held.link.dir_fd, s);
	if (rc < 0) {
		snprintf(s->name, sizeof s->name, "%s", previous);
		return rc;
	}
	s->name_version++;
	notify_viewers(s);
	return 0;
}

void session_notify(struct session *s, const char *title, const char *text)
{
	journal_add(&s->pane.journal,
		&(struct journal_entry){.type = JOURNAL_NOTIFICATION,
			.offset = history_limit(&s->pane.history),
			.at_ms = clock_wall_ms(),
			.text = (char *)(uintptr_t)text,
			.detail = (char *)(uintptr_t)title});
	notify_viewers(s);
}

void session_rename_viewer(struct session *s, struct session_viewer *v, const char *name)
{
	snprintf(v->attendee.name, sizeof v->attendee.name, "%s", name);
	s->presence.version++;
	notify_viewers(s);
}
