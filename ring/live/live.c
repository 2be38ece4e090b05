/*
 * The screen follows the history and restarts where its bytes have been overwritten. After an
 * allocation failure it is NULL for good. Neither that nor a failed checkpoint blocks the program.
 */
#include "ring/live/live.h"

#include "ring/live/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLICE ((size_t)64 << 10)  /* bytes fed at once on the main thread */
#define BULK ((size_t)2 << 20)    /* on the worker, where large pieces allow bulk processing */
#define FREEZE_BLOCKS 4u          /* blocks frozen before checking `wanted` */
#define COPIED ((size_t)16 << 10) /* the same if memory is short */

_Static_assert(SCREEN_SIDE_MAX == RING_SIDE_MAX, "a screen can have any size that a ring tells");

/*
 * A private copy of the bytes to feed: they are read several times, and bytes in the ring may
 * change. Allocated for one round only, because most screens are idle.
 */
struct copy {
	uint8_t *bytes; /* `few`, or allocated */
	size_t size;
	uint8_t few[COPIED];
};

static void copy_open(struct copy *c, size_t size)
{
	c->bytes = size > COPIED ? malloc(size) : NULL;
	c->size = c->bytes ? size : COPIED;
	if (!c->bytes)
		c->bytes = c->few;
}

static void copy_close(struct copy *c)
{
	if (c->bytes != c->few)
		free(c->bytes);
}

/* Most output between two checkpoints. The rest of the ring is for output while no server runs. */
static uint64_t interval(const struct live *l)
{
	return l->history->ring->bytes.size / 2;
}

static void on_reply(void *user, const char *bytes, size_t length)
{
	struct live *l = user;
	effects_reply(&l->effects, bytes, length);
}

static void on_event(void *user, const struct screen_event *event)
{
	struct live *l = user;
	if (!l->late)
		effects_event(&l->effects, event);
}

static const struct screen_callbacks callbacks = {.reply = on_reply, .event = on_event};

static void deliver(struct live *l)
{
	if (l->effects.length == 0)
		return;
	if (l->history->control)
		control_note_answered(l->history->control, screen_offset(l->screen));
	effects_deliver(&l->effects, l->options.callbacks, l->options.user);
}

static struct history_size size_at(const struct live *l)
{
	const struct history_cursor c = {.sizes = l->sizes};
	return history_size_at(l->history, &c);
}

static int create(struct live *l, uint64_t offset, unsigned rows, unsigned cols)
{
	const struct live_options *o = &l->options;
	int rc = screen_create(&l->screen,
		&(struct screen_options){.rows = rows,
			.cols = cols,
			.scrollback = o->scrollback,
			.offset = offset,
			.version = o->version,
			.unicode = o->unicode,
			.mark_secret = l->history->secret.text,
			.callbacks = o->callbacks ? &callbacks : NULL,
			.user = l});
	if (rc == 0)
		screen_set_theme(l->screen, &l->theme);
	return rc;
}

/* Restore the screen from the last checkpoint, if the ring still has the bytes after it. */
static bool restore(struct live *l)
{
	const struct stream *bytes = &l->history->ring->bytes;
	struct checkpoint c;
	void *copy;
	if (!l->history->control || !checkpoint_find(l->history->control, &c, &copy))
		return false;
	bool fits = stream_is_intact(bytes, c.offset) && c.offset <= stream_head(bytes) &&
		create(l, c.offset, c.rows, c.cols) == 0;
	if (fits) {
		screen_restore(l->screen, c.bytes, c.length);
		l->checkpoint = c.offset;
	}
	free(copy);
	return fits;
}

/* Sizes at the checkpoint's offset were set after it, except the one that the screen has. */
static void rewind_sizes(struct live *l)
{
	while (l->sizes > 0) {
		struct history_size size = history_nth_size(l->history, l->sizes - 1);
		if (size.offset != screen_offset(l->screen) ||
			(size.rows == screen_rows(l->screen) && size.cols == screen_cols(l->screen)))
			return;
		l->sizes--;
	}
}

/* Create a blank screen at this offset of the history. */
static int begin(struct live *l, uint64_t offset)
{
	struct history_size size = size_at(l);
	return create(l, offset, size.rows, size.cols);
}

/* Mark the sizes up to an offset as applied. */
static void place(struct live *l, uint64_t offset)
{
	struct history_cursor c;
	history_place(l->history, &c, offset);
	l->sizes = c.sizes;
	l->checkpoint = offset;
}

int live_init(struct live *l, struct history *history, const struct live_options *o)
{
	*l = (struct live){.history = history, .options = *o, .theme = theme_default};
	bool found = restore(l);
	place(l, found ? l->checkpoint : history->cut_floor);
	if (found)
		rewind_sizes(l);
	if (history->control)
		control_note_answered(history->control, history->answered);
	return found ? 0 : begin(l, l->checkpoint);
}

void live_finish(struct live *l)
{
	screen_destroy(l->screen);
	l->screen = NULL;
	effects_finish(&l->effects);
}

void live_correct_size(struct live *l, unsigned rows, unsigned cols)
{
	if (stream_oldest(&l->history->ring->events) == 0)
		return;
	struct screen *screen = live_screen(l);
	if (screen && screen_resize(screen, rows, cols) < 0)
		live_finish(l);
}

/* The report of a change belongs to no output, which may be muted. */
static void apply_theme(struct live *l)
{
	if (!l->screen)
		return;
	l->late = false;
	screen_mute(l->screen, false);
	screen_set_theme(l->screen, &l->theme);
}

void live_set_theme(struct live *l, const struct theme *theme)
{
	l->theme = *theme;
	if (l->lent)
		return;
	apply_theme(l);
	deliver(l);
}

/*
 * The bytes that the screen needs have been overwritten: the previous server had released them and
 * left no checkpoint. Restart from what is left.
 */
static void restart(struct live *l)
{
	struct history_cursor c;
	l->options.version = screen_version(l->screen);
	live_finish(l);
	history_seek(l->history, &c, false, 0);
	place(l, c.offset);
	l->restarts++;
	begin(l, c.offset); /* if memory is short, there is no screen */
}

/* Apply the sizes at the screen's offset. Returns the offset of the next size. */
static uint64_t apply_sizes(struct live *l)
{
	while (l->screen && l->sizes < l->history->sizes_count) {
		struct history_size next = history_nth_size(l->history, l->sizes);
		if (next.offset > screen_offset(l->screen))
			return next.offset;
		l->sizes++;
		/* A screen of the wrong size shows nothing true. */
		if (screen_resize(l->screen, next.rows, next.cols) < 0)
			live_finish(l);
	}
	return UINT64_MAX;
}

/* Feed at most length bytes from `at` on. Returns false if they were overwritten. */
static bool feed(struct live *l, struct copy *c, uint64_t at, size_t length, size_t work)
{
	length = length < c->size ? length : c->size;
	if (!stream_copy(&l->history->ring->bytes, at, c->bytes, length))
		return false;
	if (history_needs_blanking(l->history))
		history_blank(l->history, at, c->bytes, length);
	screen_feed(l->screen, c->bytes, length, work);
	return true;
}

/* Length of the next slice at `at`, before `end`: of one size and one muting state. */
static size_t next_slice(struct live *l, uint64_t at, uint64_t end, uint64_t next_size)
{
	const struct history *h = l->history;
	bool answered = at < h->answered;
	uint64_t same = answered ? h->answered : h->mute_before;
	l->late = at < h->mute_before;
	if (next_size < end)
		end = next_size;
	if (l->late && same < end)
		end = same;
	screen_mute(l->screen, answered);
	return end - at < SLICE ? (size_t)(end - at) : SLICE;
}

static bool follow(struct live *l, struct copy *c, size_t work)
{
	while (l->screen) {
		uint64_t at = screen_offset(l->screen), end = history_screen_limit(l->history);
		uint64_t next = apply_sizes(l);
		if (!l->screen || at >= end)
			return false;
		if (work == 0)
			return true;
		size_t length = next_slice(l, at, end, next);
		bool held = feed(l, c, at, length, work);
		deliver(l);
		size_t done = screen_work(l->screen);
		work = done < work ? work - done : 0;
		if (!held)
			restart(l);
	}
	return false;
}

bool live_follow(struct live *l, size_t work)
{
	struct copy c;
	uint64_t backlog = work > 0 ? live_backlog(l) : 0;
	copy_open(&c, backlog < SLICE ? (size_t)backlog : SLICE);
	bool more = follow(l, &c, work);
	copy_close(&c);
	return more;
}

/* On a worker thread */

uint64_t live_backlog(const struct live *l)
{
	if (!l->screen)
		return 0;
	uint64_t at = l->lent ? l->lent_end : screen_offset(l->screen),
		 end = history_screen_limit(l->history);
	return end > at ? end - at : 0;
}

bool live_has_query(const struct live *l, uint64_t bytes)
{
	uint64_t at = l->screen ? screen_offset(l->screen) : 0,
		 end = history_screen_limit(l->history);
	return l->screen && at < end &&
		queries_next_end(&l->history->queries, at, end + 1) <=
		(at + bytes < end ? at + bytes : end);
}

bool live_can_lend(const struct live *l)
{
	return l->screen && !history_needs_blanking(l->history) &&
		screen_offset(l->screen) >= l->history->mute_before;
}

static void hand_over(struct live *l, uint64_t end)
{
	l->lent_end = end;
	l->lent_lost = false;
	l->lent = true;
	atomic_store(&l->wanted, false);
}

bool live_start_work(struct live *l)
{
	uint64_t next = l->screen ? apply_sizes(l) : 0;
	if (!live_can_lend(l))
		return false;
	uint64_t at = screen_offset(l->screen), end = history_screen_limit(l->history);
	if (at >= end && !live_needs_checkpoint(l) && l->give == 0 && !l->freeze)
		return false;
	end = queries_next_end(&l->history->queries, at, end);
	hand_over(l, next < end ? next : end);
	screen_mute(l->screen, false);
	l->late = false;
	return true;
}

void live_trim(struct live *l)
{
	if (l->give > 0 && l->screen)
		l->given += screen_trim(l->screen, l->give);
	l->give = 0;
}

void live_lend(struct live *l)
{
	hand_over(l, screen_offset(l->screen));
}

void live_recall(struct live *l)
{
	atomic_store(&l->wanted, true);
}

void live_take_back(struct live *l)
{
	l->lent = false;
	apply_theme(l);
	deliver(l);
	if (l->lent_lost)
		restart(l);
}

struct screen *live_screen(struct live *l)
{
	live_follow(l, LIVE_CATCH_UP);
	return l->screen;
}

/* Write a checkpoint with `lines` lines. Returns false if it is too large or it failed. */
static bool write_checkpoint(struct live *l, uint64_t offset, unsigned lines, size_t limit)
{
	struct snapshot snapshot;
	if (screen_checkpoint(l->screen, lines, &snapshot) < 0)
		return false;
	bool fits = (snapshot.length <= limit || lines == 0) &&
		checkpoint_write(l->history->control,
			&(struct checkpoint){.offset = offset,
				.rows = screen_rows(l->screen),
				.cols = screen_cols(l->screen),
				.bytes = snapshot.bytes,
				.length = snapshot.length});
	if (lines > 0)
		l->line_bytes = snapshot.length / lines + 1;
	free(snapshot.bytes);
	return fits;
}

/*
 * Take a checkpoint with as many lines as fit and are worth it for the ring's size, estimated from
 * the bytes per line of the last one. offset: where to resume.
 */
static void checkpoint(struct live *l, uint64_t offset)
{
	size_t space = checkpoint_capacity(l->history->control), worth = interval(l) * 4;
	size_t limit = space < worth ? space : worth;
	unsigned lines = screen_scrollback(l->screen);
	if (l->line_bytes > 0 && lines > limit / l->line_bytes)
		lines = (unsigned)(limit / l->line_bytes);
	bool written = write_checkpoint(l, offset, lines, limit);
	while (!written && lines > 0) {
		unsigned fewer = (unsigned)(limit / (l->line_bytes + l->line_bytes / 8 + 1));
		lines = fewer < lines ? fewer : lines / 2;
		written = write_checkpoint(l, offset, lines, limit);
	}
	l->checkpoints += written;
	/* Without a checkpoint a crash loses the screen, but the program must not wait. */
	l->checkpoint_failures += !written;
	l->checkpoint = offset;
}

/* Offset from which a terminal in the screen's state must continue. */
static uint64_t resume_offset(const struct live *l)
{
	uint64_t resume = screen_resume_offset(l->screen);
	/* A sequence that never ends must not block the program. */
	return screen_offset(l->screen) - resume > interval(l) / 2 ? screen_offset(l->screen)
								   : resume;
}

bool live_needs_checkpoint(const struct live *l)
{
	return l->screen && l->history->control && resume_offset(l) >= l->checkpoint + interval(l);
}

/*
 * Feed pieces of LIVE_PIECE work until the end or until the screen is wanted back. The copy is
 * refilled once half of it is used, because bulk processing can only look at bytes in the copy.
 */
static void work_through(struct live *l, struct copy *c)
{
	const struct stream *bytes = &l->history->ring->bytes;
	uint64_t start = 0, end = 0, at;
	while ((at = screen_offset(l->screen)) < l->lent_end && !atomic_load(&l->wanted) &&
		l->effects.length < EFFECTS_MAX / 4) {
		if (at >= end || (end < l->lent_end && end - at < c->size / 2)) {
			start = at;
			end = l->lent_end - at < c->size ? l->lent_end : at + c->size;
			l->lent_lost = !stream_copy(bytes, start, c->bytes, (size_t)(end - start));
			if (l->lent_lost)
				return;
		}
		screen_feed(l->screen, c->bytes + (at - start), (size_t)(end - at), LIVE_PIECE);
	}
}

bool live_can_freeze(const struct live *l)
{
	/* After an allocation failure, freezing is tried again when there is more output. */
	return l->screen && screen_version(l->screen) != l->frozen && screen_can_freeze(l->screen);
}

static void freeze(struct live *l)
{
	bool more = true;
	while (more && !atomic_load(&l->wanted))
		more = screen_freeze(l->screen, FREEZE_BLOCKS);
	if (!more)
		l->frozen = screen_version(l->screen);
}

void live_work(struct live *l)
{
	struct copy c;
	uint64_t at = screen_offset(l->screen), left = l->lent_end > at ? l->lent_end - at : 0;
	copy_open(&c, left < BULK ? (size_t)left : BULK);
	work_through(l, &c);
	copy_close(&c);
	live_trim(l);
	if (!l->lent_lost && live_needs_checkpoint(l))
		checkpoint(l, resume_offset(l));
	if (l->freeze)
		freeze(l);
	l->freeze = false;
}

uint64_t live_tail(struct live *l, bool take_checkpoint)
{
	uint64_t consumed = history_consumed(l->history);
	if (l->lent)
		return l->tail < consumed ? l->tail : consumed;
	if (!l->screen)
		return consumed;
	if (take_checkpoint && live_needs_checkpoint(l))
		checkpoint(l, resume_offset(l));
	uint64_t needed = l->history->control ? l->checkpoint : resume_offset(l);
	l->tail = needed < consumed ? needed : consumed;
	return l->tail;
}
