/*
 * What a client gets that does not keep up: a snapshot instead of the backlog, first without scrollback. A timer checks such
 * clients, and gives them the stream again, or the scrollback that they lack.
 */
#include "ws/socket/terminal_internal.h"

#include <stdlib.h>
#include <utlist.h>

#define LINE_BYTES 64u /* approximate bytes of a line in a snapshot */
/* Approximate bytes of scrollback that the first snapshot of a client with acks may have. */
#define FIRST_SCROLLBACK ((size_t)8 << 10)
/* Bytes of all snapshots that are not sent yet; beyond this they have no scrollback. */
#define SNAPSHOTS_MAX ((size_t)64 << 20)

#define DRAINED ((size_t)16 << 10) /* bytes in flight that count as none */
/* In checks, every TERMINAL_REFRESH_MS: */
#define DRAINED_TIMES 5u       /* drained ones until a client gets the stream again */
#define DRAINED_TIMES_MAX 150u /* the same at most, after failed trials */
#define TRIAL_TIMES 50u        /* until a trial counts as successful */

static void on_refresh(uv_timer_t *timer);

static void start_refresh(struct terminals *all)
{
	if (!uv_is_active((uv_handle_t *)&all->refresh))
		uv_timer_start(&all->refresh, on_refresh, TERMINAL_REFRESH_MS, TERMINAL_REFRESH_MS);
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
	t->all->snapshot_bytes -= t->snapshot.length;
	free(t->snapshot.bytes);
	t->snapshot = (struct snapshot){0};
	t->snapshot_sent = 0;
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
	uint64_t most = t->pace.slow ? t->pace.window * 2 / LINE_BYTES : t->lines;
	return most < t->lines ? (unsigned)most : t->lines;
}

/*
 * Whether the first snapshot has no scrollback, because it would take long on a slow line. Only for clients that acknowledge:
 * they get it as soon as the screen has arrived. A screen on a worker thread counts as having all lines.
 */
static bool sees_screen_first(const struct terminal *t)
{
	const struct screen *screen = pane_unlent_screen(&t->session->pane);
	unsigned lines = t->lines;
	if (screen && screen_scrollback(screen) < lines)
		lines = screen_scrollback(screen);
	return t->snapshot_due == SNAPSHOT_ATTACH && t->pace.active &&
		lines > FIRST_SCROLLBACK / LINE_BYTES;
}

/* Lines of scrollback of the next snapshot. */
static unsigned snapshot_lines(struct terminal *t)
{
	t->screen_first = t->screen_first || sees_screen_first(t);
	/* A slow client gets only the screen; clients that do not read must not cost memory. */
	bool few = t->behind || (t->snapshot_due == SNAPSHOT_LAG && !t->full_lines) ||
		(t->snapshot_due == SNAPSHOT_ATTACH && t->screen_first);
	if (few || t->all->snapshot_bytes > SNAPSHOTS_MAX)
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

bool terminal_prepare_snapshot(struct terminal *t)
{
	if (t->has_picture && t->look.picture.offset < history_oldest(session_history(t->session)))
		drop_unsent(t);
	if (t->has_picture || t->look.state != LOOK_IDLE)
		return t->has_picture;
	/* For lag, any screen newer than the cursor is enough. */
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
	bool end_reported = t->cursor.end_reported;
	if (to < history_oldest(h))
		to = picture->offset;
	history_place(h, &t->cursor, to);
	/* The screen may have been resized within an unfinished sequence. */
	t->cursor.sizes = picture->sizes;
	t->cursor.end_reported = end_reported;
	return to > from ? to - from : 0;
}

bool terminal_begin_snapshot(struct terminal *t, struct picture *ret_picture, uint64_t *ret_skipped)
{
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
		return false;
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
	*ret_picture = picture;
	*ret_skipped = skipped;
	return true;
}

/* Whether almost nothing is in flight. */
static bool is_drained(const struct terminal *t)
{
	return (!t->pace.slow || pace_is_empty(&t->pace)) &&
		t->transport->queued(t->transport_user) <= DRAINED;
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
	if (!t->behind && ++t->kept_count >= TRIAL_TIMES)
		t->drained_needed = 0;
	if (t->snapshot.bytes || t->snapshot_due != SNAPSHOT_NONE || !is_drained(t)) {
		t->drained_count = t->quiet_count = 0;
		return;
	}
	t->drained_count++;
	t->quiet_count = more <= DRAINED ? t->quiet_count + 1 : 0;
	if (t->behind && limit != t->cursor.offset)
		terminal_want_snapshot(t, SNAPSHOT_LAG);
	if (t->behind && (more == 0 || (t->drained_count >= t->drained_needed && more <= t->lag))) {
		t->behind = false;
		t->kept_count = 0;
	}
	if (!t->behind && t->partial && t->quiet_count >= DRAINED_TIMES &&
		t->all->snapshot_bytes <= SNAPSHOTS_MAX) {
		t->full_lines = true;
		terminal_want_snapshot(t, SNAPSHOT_LAG);
	}
	terminal_pump(t);
}

bool terminal_fill_up(struct terminal *t)
{
	if (t->snapshot_due != SNAPSHOT_NONE || t->snapshot.bytes || !t->screen_first ||
		!t->ready || !pace_is_empty(&t->pace) || t->all->snapshot_bytes > SNAPSHOTS_MAX)
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

void terminal_note_waiting(struct terminal *t)
{
	if (t->cursor.offset < t->waiting_to)
		return;
	t->waiting_to = history_limit(session_history(t->session));
	t->waiting_ms = terminal_now_ms(t);
}

void terminal_schedule_receipt(struct terminal *t)
{
	t->transport->want(t->transport_user);
	start_refresh(t->all);
}

/* The backlog from which a snapshot replaces it. A client that asked for more than the default gets that. */
static uint64_t lag_of(const struct terminal *t)
{
	return t->lag > TERMINAL_LAG ? t->lag : pace_lag(&t->pace, t->lag);
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
			terminal_now_ms(t) - t->waiting_ms > TERMINAL_LAG_MS);
}

bool terminal_check_lag(struct terminal *t)
{
	if (t->own || t->behind || !lags(t) || !pane_has_screen(&t->session->pane))
		return false;
	t->behind = true;
	t->full_lines = t->screen_first = false;
	t->drained_count = t->quiet_count = 0;
	t->drained_needed = t->drained_needed == 0      ? DRAINED_TIMES
		: t->drained_needed < DRAINED_TIMES_MAX ? t->drained_needed * 2
							: DRAINED_TIMES_MAX;
	terminal_want_snapshot(t, SNAPSHOT_LAG);
	start_refresh(t->all);
	return true;
}

int terminal_refresh_init(struct terminals *all)
{
	all->refresh.data = all;
	return uv_timer_init(all->sessions->loop, &all->refresh);
}
