/* See output.h. It reads the ring once and draws what it has got in a screen of its own; memory alone can be short. */
#include "shell/block/output.h"

#include "ring/screen/view/render.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 50u

/* Bytes [from, to) of the ring, or what is left of them; moves *from. */
static char *copy_bytes(const struct stream *bytes, uint64_t *from, uint64_t to)
{
	char *text = malloc((size_t)(to - *from) + 1);
	while (text && *from < to && !stream_copy(bytes, *from, text, (size_t)(to - *from)))
		*from = stream_skip(bytes, *from, to);
	return text;
}

/* The lines as text; what render_next() gives in pieces, for it is long, is one line all the same. */
static int put_text(const struct screen *screen, const struct render_options *o, FILE *f)
{
	struct render *render;
	struct render_line line;
	int rc = render_create(&render, screen, o);
	if (rc < 0)
		return rc;
	for (bool first = true; (rc = render_next(render, &line)) == 1; first = false) {
		if (!first && !line.wrapped)
			putc('\n', f);
		fwrite(line.text, 1, line.length, f);
	}
	render_destroy(render);
	return rc;
}

/* A line that has not been ended is not: only what ends the colours may follow. */
static void join_end(struct rendered *r)
{
	char *end = memrchr(r->bytes, '\n', r->length);
	if (!end)
		return;
	memmove(end, end + 1, r->length - (size_t)(end + 1 - r->bytes));
	r->length--;
}

static int render_screen(
	const struct screen *screen, enum block_format format, struct block_output *o)
{
	unsigned row, column;
	struct rendered rendered = {.bytes = NULL};
	screen_cursor(screen, &row, &column);
	uint64_t end = screen_dropped(screen) + screen_scrollback(screen) + row + (column > 0);
	const struct render_options lines = {.to = end, .join = true, .max = SIZE_MAX};
	int rc = 0;
	if (format == BLOCK_TEXT) {
		FILE *f = open_memstream(&rendered.bytes, &rendered.length);
		rc = f ? put_text(screen, &lines, f) : -ENOMEM;
		if (f && column == 0 && end > 0)
			putc('\n', f);
		if (f && fclose(f) != 0)
			rc = -ENOMEM;
	} else {
		rc = render_lines(screen, RENDER_ANSI, &lines, &rendered);
		if (rc == 0 && column > 0)
			join_end(&rendered);
	}
	if (rc < 0) {
		free(rendered.bytes);
		return rc;
	}
	free(o->text);
	o->text = rendered.bytes;
	o->length = rendered.length;
	return 0;
}

/* As a terminal of that width shows it. */
static int draw_output(struct block_output *o, unsigned cols, enum block_format format)
{
	struct screen *screen;
	const struct screen_options options = {
		.rows = ROWS, .cols = cols, .scrollback = SCREEN_SCROLLBACK_MAX};
	int rc = screen_create(&screen, &options);
	if (rc < 0)
		return rc;
	for (size_t at = 0; at < o->length;)
		at += screen_feed(screen, o->text + at, o->length - at, SIZE_MAX);
	rc = render_screen(screen, format, o);
	screen_destroy(screen);
	return rc;
}

int block_output(const struct pane *p, const struct block *b, enum block_format format,
	uint64_t from, uint64_t to, struct block_output *ret)
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
	*ret = (struct block_output){.to = to};
	ret->text = copy_bytes(bytes, &start, to);
	if (!ret->text)
		return -ENOMEM;
	ret->from = start;
	ret->lost = start - from;
	ret->length = (size_t)(to - start);
	history_hide(&p->history, start, (uint8_t *)ret->text, ret->length);
	if (format == BLOCK_BYTES)
		return 0;
	int rc = draw_output(ret, pane_cols(p), format);
	if (rc < 0)
		free(ret->text);
	return rc;
}
