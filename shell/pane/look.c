/*
 * A look goes idle -> waits -> idle, or waits -> sits -> painted -> idle. While its picture is
 * painted, the picture belongs to the screening, so the look can be cancelled meanwhile.
 */
#include "shell/pane/look.h"

#include "shell/pane/pane.h"

#include <stdlib.h>
#include <utlist.h>

#define FOLLOW_INLINE_CELLS (SCREENING_STEP_CELLS * 4)

/* Whether the screen has the output asked for, except an incomplete sequence at the end. */
static bool is_reached(const struct pane *p, const struct look *look)
{
	const struct screen *screen = p->live.screen;
	if (!screen || (look->enough > 0 && screen_resume_offset(screen) >= look->enough))
		return true;
	return p->history.scan.offset >= look->offset &&
		(screen_offset(screen) >= look->offset || live_backlog(&p->live) == 0);
}

static bool is_small(const struct pane *p, const struct look *look)
{
	const struct screen *screen = p->live.screen;
	if (!screen || !p->screening.workers)
		return true;
	uint64_t lines = screen_scrollback(screen);
	lines = (lines < look->lines ? lines : look->lines) + screen_rows(screen);
	return lines * screen_cols(screen) <= LOOK_PAINT_INLINE_MAX;
}

static bool is_painted_inline(const struct pane *p, const struct look *look)
{
	if (look->state == LOOK_PAINTED || !p->screening.workers || !p->live.screen)
		return true;
	return !look->task && (!look->paints || is_small(p, look));
}

static void note_screen(const struct pane *p, struct picture *picture)
{
	const struct screen *screen = p->live.screen;
	*picture = (struct picture){.rows = screen_rows(screen),
		.cols = screen_cols(screen),
		.total = screen_scrollback(screen),
		.base = screen_dropped(screen) + screen_scrollback(screen),
		.offset = screen_offset(screen),
		.resume = screen_resume_offset(screen),
		.sizes = p->live.sizes};
}

static void paint(struct screen *screen, unsigned lines, bool marks, struct snapshot *ret_snapshot)
{
	int rc = marks ? screen_marked_snapshot(screen, lines, ret_snapshot)
		       : screen_snapshot(screen, lines, ret_snapshot);
	if (rc < 0)
		*ret_snapshot = (struct snapshot){0};
}

static void do_task(struct look_task *t, const struct screen *screen)
{
	uint64_t began = uv_hrtime();
	t->work(t, screen);
	t->spent_ns = uv_hrtime() - began;
}

static void paint_inline(struct pane *p, struct look *look)
{
	if (look->task)
		do_task(look->task, p->live.screen);
	look->picture = (struct picture){0};
	if (!look->paints || !p->live.screen)
		return;
	note_screen(p, &look->picture);
	paint(p->live.screen, look->lines, look->marks, &look->picture.snapshot);
}

static void wait_for(struct pane *p, struct look *look)
{
	look->state = LOOK_WAITING;
	look->pane = p;
	DL_APPEND(p->screening.looks, look);
	held_schedule_turn(&p->held);
	if (!look->patient)
		pane_hurry_screen(p);
}

/* Process pending output at once if it is little, which is the usual case. */
static void follow_little(struct pane *p)
{
	if (!p->screening.workers)
		live_screen(&p->live);
	else if (!p->live.lent && live_backlog(&p->live) <= SCREENING_INLINE_MAX)
		live_follow(&p->live, FOLLOW_INLINE_CELLS);
}

bool pane_look(struct pane *p, struct look *look)
{
	look->picture = (struct picture){0};
	if (!p->history_open)
		return true;
	look->offset = p->screening.workers ? pane_head(p) : p->history.scan.offset;
	if (!p->live.lent && !is_reached(p, look))
		follow_little(p);
	bool is_inline = !p->live.lent && (is_reached(p, look) || !p->screening.workers) &&
		is_painted_inline(p, look);
	if (is_inline)
		paint_inline(p, look);
	else
		wait_for(p, look);
	return is_inline;
}

void look_cancel(struct look *look)
{
	if (look->state == LOOK_PAINTING)
		look->pane->screening.painting_look = NULL;
	else if (look->state != LOOK_IDLE)
		DL_DELETE(look->pane->screening.looks, look);
	free(look->picture.snapshot.bytes);
	look->picture.snapshot = (struct snapshot){0};
	if (look->task)
		look->task->destroy(look->task);
	look->task = NULL;
	look->state = LOOK_IDLE;
	look->pane = NULL;
}

/* The first look that is ready. paints: also one with a snapshot to paint on a worker. */
static struct look *first_due(const struct pane *p, bool paints)
{
	struct look *look;
	DL_FOREACH (p->screening.looks, look)
		if (look->state == LOOK_PAINTED ||
			(is_reached(p, look) && (paints || is_painted_inline(p, look))))
			return look;
	return NULL;
}

static void finish_look(struct pane *p, struct look *look)
{
	DL_DELETE(p->screening.looks, look);
	if (look->state == LOOK_WAITING)
		paint_inline(p, look);
	look->state = LOOK_IDLE;
	look->pane = NULL;
	look->seen(look->user);
}

static void start_painting(struct pane *p, struct look *look)
{
	DL_DELETE(p->screening.looks, look);
	look->state = LOOK_PAINTING;
	p->screening.painting_look = look;
	p->screening.lines = look->lines;
	p->screening.marks = look->marks;
	p->screening.task = look->task;
	look->task = NULL;
	note_screen(p, &p->screening.picture);
	pane_lend_screen(p, look->patient);
}

void pane_finish_looks(struct pane *p, bool sit)
{
	struct look *look;
	while (p->history_open && !p->live.lent && (look = first_due(p, sit))) {
		if (is_painted_inline(p, look))
			finish_look(p, look);
		else
			start_painting(p, look);
	}
}

bool pane_has_looks(const struct pane *p)
{
	const struct look *look;
	DL_FOREACH (p->screening.looks, look)
		if (look->offset <= p->history.scan.offset)
			return true;
	return false;
}

void pane_paint(struct pane *p)
{
	p->screening.painted = true;
	if (p->screening.task) {
		do_task(p->screening.task, p->live.screen);
		return;
	}
	paint(p->live.screen, p->screening.lines, p->screening.marks,
		&p->screening.picture.snapshot);
}

void pane_receive_picture(struct pane *p)
{
	struct screening *s = &p->screening;
	struct look *look = s->painting_look;
	s->painting_look = NULL;
	if (!look) {
		free(s->picture.snapshot.bytes);
		if (s->task)
			s->task->destroy(s->task);
	} else {
		look->task = s->task;
		look->state = s->painted ? LOOK_PAINTED : LOOK_WAITING;
		if (s->painted)
			look->picture = s->picture;
		DL_PREPEND(s->looks, look);
	}
	s->picture = (struct picture){0};
	s->task = NULL;
	s->painted = false;
}

void pane_close_looks(struct pane *p)
{
	struct look *look;
	while ((look = p->screening.looks)) {
		look_cancel(look);
		if (look->gone)
			look->gone(look->user);
	}
}
