/* See command_text.h: a scratch screen draws what the shell has echoed. */
#include "shell/block/command_text.h"

#include "ring/screen/view/render.h"
#include "ring/screen/screen.h"
#include "ring/utf8.h"
#include "shell/memory_stream.h"
#include "shell/output/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 50u
#define LINES_MAX 2000u
#define STARTS_MAX 256u

/* Where a line of the command begins, after a prompt. */
struct start {
	uint64_t line;
	unsigned column;
};

struct drawing {
	struct screen *screen;
	struct start starts[STARTS_MAX];
	unsigned count;
	size_t work;   /* cells that may still be touched; 0: drawing stopped early */
	bool skipping; /* skip text: no line is being edited, so it is echo of typed-ahead input */
};

static void feed(struct drawing *d, const char *bytes, size_t length)
{
	while (length > 0 && d->work > 0) {
		size_t n = screen_feed(d->screen, bytes, length, d->work);
		size_t work = screen_work(d->screen);
		d->work -= work < d->work ? work : d->work;
		bytes += n;
		length -= n;
	}
}

static void on_text(void *user, uint64_t offset, const void *bytes, size_t length)
{
	struct drawing *d = user;
	(void)offset;
	if (!d->skipping)
		feed(d, bytes, length);
}

/* Erase what is left of the cursor: the prompt. */
static void begin_line(struct drawing *d)
{
	unsigned row, column;
	screen_cursor(d->screen, &row, &column);
	uint64_t line = screen_dropped(d->screen) + screen_scrollback(d->screen) + row;
	if (column > 0)
		feed(d, "\033[1K", 4);
	/* A prompt that is redrawn replaces the old one. */
	while (d->count > 0 && d->starts[d->count - 1].line >= line)
		d->count--;
	if (d->count < STARTS_MAX)
		d->starts[d->count++] = (struct start){line, column};
}

static void on_mark(void *user, const struct mark *mark)
{
	struct drawing *d = user;
	d->skipping = false; /* there is a prompt */
	if (mark->kind == MARK_INPUT)
		d->count = 0;
	if (mark->kind == MARK_INPUT || mark->kind == MARK_CONTINUED)
		begin_line(d);
}

static unsigned indent_of(const struct drawing *d, uint64_t line)
{
	for (unsigned i = 0; i < d->count; i++)
		if (d->starts[i].line == line)
			return d->starts[i].column;
	return 0;
}

static void put_lines(const struct drawing *d, FILE *f)
{
	unsigned row, column;
	struct render *render;
	struct render_line line;
	screen_cursor(d->screen, &row, &column);
	uint64_t end = screen_dropped(d->screen) + screen_scrollback(d->screen) + row;
	const struct render_options o = {
		.from = d->starts[0].line, .to = end + (column > 0), .join = true};
	if (render_create(&render, d->screen, &o) < 0)
		return;
	for (bool first = true; render_next(render, &line) == 1; first = false) {
		size_t indent = indent_of(d, line.number);
		if (indent > line.length)
			indent = line.length;
		/* Columns are bytes, as they are blank, unless something was drawn over the prompt. */
		indent += utf8_leading_continuations(
			line.text + indent, line.length - indent, SIZE_MAX);
		if (!first)
			putc('\n', f);
		fwrite(line.text + indent, 1, line.length - indent, f);
	}
	render_destroy(render);
}

/* The drawn text, cut between characters if it is too long. */
static char *text_of(const struct drawing *d)
{
	char *text = NULL;
	size_t length;
	FILE *f = d->count > 0 && d->work > 0 ? memory_stream(&text, &length) : NULL;
	if (!f)
		return NULL;
	put_lines(d, f);
	fclose(f);
	if (!text)
		return NULL;
	length = utf8_cut(text, length, COMMAND_TEXT_MAX);
	while (length > 0 && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	return text;
}

/*
 * While bash edits a line, bracketed paste is on (unless the user has disabled it). bash switches it off before it
 * gives the terminal back, which then echoes typed-ahead input; that comes before the start mark, and is skipped. A
 * program called by a key binding may leave it off: then the line goes on until it is switched off once more.
 */
static void draw(struct drawing *d, const char *nonce, const char *bytes, size_t length)
{
	static const char paste[] = "\033[?2004";
	struct marks marks = {.length = 0};
	const struct marks_callbacks callbacks = {.text = on_text, .mark = on_mark, .user = d};
	const char *found = memmem(bytes, length, paste, sizeof paste - 1);
	for (size_t at = 0; at < length;) {
		size_t end = found ? (size_t)(found - bytes) + sizeof paste : length;
		bool off = found && end <= length && bytes[end - 1] == 'l';
		if (end > length)
			end = length;
		marks_feed(&marks, nonce, at, bytes + at, end - at, &callbacks);
		at = end;
		found = memmem(bytes + at, length - at, paste, sizeof paste - 1);
		size_t next = found ? (size_t)(found - bytes) + sizeof paste : length + 1;
		d->skipping = off && !(next <= length && bytes[next - 1] == 'l');
	}
}

char *command_text(const char *nonce, const void *bytes, size_t length, unsigned cols)
{
	struct drawing *d = calloc(1, sizeof *d);
	const struct screen_options o = {.rows = ROWS, .cols = cols, .scrollback = LINES_MAX};
	char *text = NULL;
	if (!d || screen_create(&d->screen, &o) < 0) {
		free(d);
		return NULL;
	}
	d->work = COMMAND_TEXT_WORK;
	draw(d, nonce, bytes, length);
	text = text_of(d);
	screen_destroy(d->screen);
	free(d);
	return text;
}
