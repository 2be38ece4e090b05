/* WAIT_MATCH: a pattern on the screen, or in the output without echoed input. */
#include "ring/search/search.h"
#include "shell/input/echo.h"
#include "shell/wait/internal.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static void set_text(struct wait *w, const char *text, size_t length)
{
	w->text = malloc(length + 1);
	if (!w->text)
		return;
	memcpy(w->text, text, length);
	w->text[length] = '\0';
	w->result.length = length;
}

void wait_leave_queue(struct waits *h, struct awaited *c)
{
	if (c->queued)
		DL_DELETE(h->shared->searches, c); /* NOLINT(clang-analyzer-*): it is utlist's */
	c->queued = false;
}

/* Links' searches of screens take turns, with rests: at most a quarter of the loop's time. */
static bool may_search(struct waits *h, const struct wait *w, struct awaited *c)
{
	uint64_t now = uv_hrtime(), rested = h->shared->rested_ns;
	if (!wait_is_by_link(w))
		return true;
	if (!c->queued)
		DL_APPEND(h->shared->searches, c);
	c->queued = true;
	if (now >= rested && h->shared->searches == c) {
		wait_leave_queue(h, c);
		return true;
	}
	wait_look_later(h, h->now + (rested > now ? (rested - now) / 1000000 + 1 : WAIT_TURN_MS));
	return false;
}

static void note_search(struct waits *h, const struct wait *w, uint64_t began)
{
	uint64_t now = uv_hrtime();
	if (wait_is_by_link(w))
		h->shared->rested_ns = now + WAIT_REST_FACTOR * (now - began);
}

/* Search the screen. The match in the lowest row counts. */
static bool is_on_screen(struct waits *h, struct wait *w, unsigned i)
{
	struct awaited *c = &w->conditions[i];
	const struct screen *screen = pane_unlent_screen(h->pane);
	if (!screen || c->rows_version == h->rows_version) {
		if (!screen && !wait_is_by_link(w))
			pane_hurry_screen(h->pane);
		wait_leave_queue(h, c);
		return false;
	}
	if (!may_search(h, w, c))
		return false;
	uint64_t began = uv_hrtime();
	uint64_t base = screen_dropped(screen) + screen_scrollback(screen);
	struct search search = {
		.pattern = c->is.pattern, .limit = 1, .work = FINDER_WORK, .from = base};
	c->rows_version = h->rows_version;
	bool found = search_screen(&search, screen, SEARCH_NO_LINE) == 0 && search.count > 0;
	note_search(h, w, began);
	if (found) {
		const struct search_match *m = &search.matches[0];
		wait_end(w, (int)i, WAIT_MATCH);
		w->result.has_place = true;
		w->result.row = (unsigned)(m->line - base) + 1;
		w->result.column = m->column + 1;
		set_text(w, m->match, m->match_length);
	}
	search_finish(&search);
	return found;
}

/* Whether an offset lies where the shell draws an exec that is being typed. */
static bool is_being_typed(const struct executor *x, uint64_t offset)
{
	const struct exec *e = x->current;
	return e && e->state == EXEC_STARTING && offset >= e->typed_offset &&
		(!e->start_marked || offset < e->start);
}

/* What a match is. */
enum found {
	FOUND_OUTPUT,
	FOUND_TYPED,  /* echo of typed text, by the shell or by the kernel */
	FOUND_EDITED, /* in a line that is being edited: not known yet */
};

/* Judge a match in a line at the prompt, entered or not. */
static enum found judge_line(
	const struct waits *h, const struct finder *f, const struct block_line *line)
{
	const struct executor *x = h->executor;
	const struct exec *e = line->exec[0] ? exec_find(h->executor, line->exec) : NULL;
	char text[WAIT_TEXT_MAX];
	if (e && f->end > e->typed_offset)
		return FOUND_TYPED;
	size_t length = finder_text_from(f, line->begin, text, sizeof text);
	if (length > 0 && line->command && memmem(line->command, strlen(line->command), text, length))
		return FOUND_TYPED;
	if (length > 0 && echo_contains(&x->typing->typed, line->since, f->end, text, length))
		return FOUND_TYPED;
	/* While editing, a shell shows text that was not typed, such as history or a completion. */
	bool edited = !line->command && h->now < h->pane->typed_ms + WAIT_EDIT_MS;
	return edited ? FOUND_EDITED : FOUND_OUTPUT;
}

static enum found judge(const struct waits *h, const struct finder *f)
{
	const struct executor *x = h->executor;
	struct block_line line;
	if (is_being_typed(x, f->end - 1))
		return FOUND_TYPED;
	if (blocks_line_at(x->blocks, f->end - 1, &line))
		return judge_line(h, f, &line);
	bool echo = echo_matches(&x->typing->typed, &h->pane->held.link.ring.bytes, f->end);
	return echo ? FOUND_TYPED : FOUND_OUTPUT;
}

/* Check the output that has been fed. */
static bool is_in_output(struct waits *h, struct wait *w, unsigned i)
{
	struct awaited *c = &w->conditions[i];
	struct finder *f = c->finder;
	char text[WAIT_TEXT_MAX];
	if (c->lent)
		return false; /* checked when the worker is back */
	uint64_t settles = wait_settles_at(h, c);
	if (settles > h->now)
		wait_look_later(h, settles);
	if (!f->found)
		return false;
	switch (judge(h, f)) {
	case FOUND_TYPED:
		finder_dismiss(f);
		wait_look_later(h, h->now);
		return false;
	case FOUND_EDITED:
		wait_look_later(h, h->pane->typed_ms + WAIT_EDIT_MS);
		return false;
	case FOUND_OUTPUT:
		break;
	}
	wait_end(w, (int)i, WAIT_MATCH);
	w->result.offset = f->start;
	w->result.has_end = true;
	w->result.end = f->end;
	set_text(w, text, finder_text(f, text, sizeof text));
	return true;
}

bool wait_check_match(struct waits *h, struct wait *w, unsigned i)
{
	return w->conditions[i].is.on_screen ? is_on_screen(h, w, i) : is_in_output(h, w, i);
}
