/* See output.h. It copies from the ring once and draws on a screen of its own; only memory can be short. */
#include "shell/block/output.h"

#include "ring/screen/view/render.h"
#include "shell/memory_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 50u
#define SLICE ((size_t)64 << 10) /* cells, or bytes, between two checks of the limits */

/* Copy bytes [*from, to) of the ring, without those that are lost; moves *from. */
static char *copy_bytes(const struct stream *bytes, uint64_t *from, uint64_t to)
{
	char *text = malloc((size_t)(to - *from) + 1);
	while (text && *from < to && !stream_copy(bytes, *from, text, (size_t)(to - *from)))
		*from = stream_skip(bytes, *from, to);
	return text;
}

/* The output offset at which a line begins; `none` if the screen has no such line. */
static uint64_t begin_of(const struct screen *screen, uint64_t number, uint64_t none)
{
	struct render *render;
	struct render_line line;
	const struct render_options o = {.from = number, .to = number + 1};
	if (render_create(&render, screen, &o) < 0)
		return none;
	uint64_t begin = render_next(render, &line) == 1 ? line.offset : none;
	render_destroy(render);
	return begin;
}

/* Write the lines as text, joining the pieces of render_next(). *ret_end: the line after the last one written. */
static int put_text(
	const struct screen *screen, const struct render_options *o, FILE *f, uint64_t *ret_end)
{
	struct render *render;
	struct render_line line;
	size_t length = 0;
	int rc = render_create(&render, screen, o);
	if (rc < 0)
		return rc;
	*ret_end = o->to;
	for (bool first = true; (rc = render_next(render, &line)) == 1; first = false) {
		if (!first && !line.wrapped)
			putc('\n', f);
		if (length >= o->max) {
			*ret_end = line.number;
			rc = 0;
			break;
		}
		fwrite(line.text, 1, line.length, f);
		length += line.length + 1;
	}
	render_destroy(render);
	return rc;
}

/* Remove the last line break, if the output does not end with one; only colour resets may follow it. */
static void join_end(struct rendered *r)
{
	char *end = memrchr(r->bytes, '\n', r->length);
	if (!end)
		return;
	memmove(end, end + 1, r->length - (size_t)(end + 1 - r->bytes));
	r->length--;
}

/* Render the lines before o->to as text. ended: with a line break at the end. *ret_end: the first line left out. */
static int render_text(const struct screen *screen, const struct render_options *o, bool ended,
	struct rendered *ret, uint64_t *ret_end)
{
	FILE *f = memory_stream(&ret->bytes, &ret->length);
	if (!f)
		return -ENOMEM;
	int rc = put_text(screen, o, f, ret_end);
	if (ended && o->to > 0 && *ret_end == o->to)
		putc('\n', f);
	return fclose(f) == 0 ? rc : -ENOMEM;
}

static int render_ansi(const struct screen *screen, const struct render_options *o, bool ended,
	struct rendered *ret, uint64_t *ret_end)
{
	int rc = render_lines(screen, RENDER_ANSI, o, ret);
	if (rc < 0)
		return rc;
	*ret_end = ret->to < o->to ? ret->to : o->to;
	if (!ended && *ret_end == o->to)
		join_end(ret);
	return 0;
}

static int render_screen(
	const struct screen *screen, enum block_format format, struct block_output *o)
{
	unsigned row, column;
	struct rendered rendered = {.bytes = NULL};
	screen_cursor(screen, &row, &column);
	uint64_t end = screen_dropped(screen) + screen_scrollback(screen) + row + (column > 0);
	const struct render_options lines = {.to = end, .join = true, .max = BLOCK_OUTPUT_TEXT};
	uint64_t stop = end;
	int rc = (format == BLOCK_TEXT ? render_text : render_ansi)(
		screen, &lines, column == 0, &rendered, &stop);
	if (rc < 0) {
		free(rendered.bytes);
		return rc;
	}
	free(o->text);
	o->text = rendered.bytes;
	o->length = rendered.length;
	uint64_t to = stop < end ? begin_of(screen, stop, o->to) : o->to;
	o->to = to > o->from ? to : o->to;
	return 0;
}

/* Feed the screen within the limits. Returns the number of bytes. */
static size_t feed(struct screen *screen, const struct block_output *o)
{
	size_t at = 0, work = 0;
	while (at < o->length && work < BLOCK_OUTPUT_WORK &&
		screen_memory(screen) < BLOCK_OUTPUT_MEMORY) {
		size_t left = o->length - at;
		at += screen_feed(screen, o->text + at, left < SLICE ? left : SLICE, SLICE);
		work += screen_work(screen);
	}
	return at;
}

int block_output_draw(struct block_output *o, enum block_format format)
{
	struct screen *screen;
	const struct screen_options options = {.rows = ROWS,
		.cols = o->cols,
		.scrollback = SCREEN_SCROLLBACK_MAX,
		.offset = o->from,
		.unicode = o->unicode};
	if (format == BLOCK_BYTES)
		return 0;
	int rc = screen_create(&screen, &options);
	if (rc < 0)
		return rc;
	uint64_t to = o->to;
	if (feed(screen, o) < o->length) {
		/* Stop before an unfinished sequence, unless that is all there is. */
		uint64_t whole = screen_resume_offset(screen);
		o->to = whole > o->from ? whole : screen_offset(screen);
	}
	rc = render_screen(screen, format, o);
	if (rc < 0)
		o->to = to;
	screen_destroy(screen);
	return rc;
}

int block_output(const struct pane *p, const struct block *b, uint64_t from, uint64_t to,
	struct block_output *ret)
{
	const struct stream *bytes = &p->held.link.ring.bytes;
	uint64_t end = b->done ? b->end : p->history.scan.offset, limit = history_limit(&p->history);
	end = end < limit ? end : limit;
	from = from < b->start ? b->start : from > end ? end : from;
	to = to < from ? from : to > end ? end : to;
	uint64_t oldest = stream_oldest(bytes), start = oldest > from ? oldest : from;
	start = start < to ? start : to;
	if (to - start > BLOCK_OUTPUT_MAX)
		to = start + BLOCK_OUTPUT_MAX;
	char *text = copy_bytes(bytes, &start, to);
	if (!text)
		return -ENOMEM;
	*ret = (struct block_output){.text = text,
		.length = (size_t)(to - start),
		.from = start,
		.to = to,
		.lost = start - from,
		.cols = pane_cols(p),
		.unicode = p->unicode};
	history_redact(&p->history, start, (uint8_t *)text, ret->length);
	return 0;
}
