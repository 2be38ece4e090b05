/*
 * capture-pane: rows of the screen and the scrollback. The server sends scrollback in several answers; rows
 * keep their numbers while a program prints, so consecutive answers fit together.
 */
#include "ws/client/tmux/buffers.h"
#include "ws/client/tmux/capture_style.h"
#include "ws/client/tmux/commands.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/backend.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows to capture. */
struct range {
	int64_t above;    /* rows of scrollback */
	int64_t first;    /* number of the oldest row */
	int64_t top, end; /* from the oldest row; inclusive */
	int64_t rows;     /* of the screen */
};

/* Parse -S or -E: "-" for the first or last row, or a row from the top of the screen. */
static int64_t read_row(struct call *c, const struct place *at, char letter, const struct range *r)
{
	const char *text = args_value(&c->args, letter);
	bool start = letter == 'S';
	char *end;
	int64_t last = r->above + r->rows - 1;
	if (text)
		text = format_at(c->t, at, text);
	if (text && strcmp(text, "-") == 0)
		return start ? 0 : last;
	long long n = text ? strtoll(text, &end, 10) : 0;
	if (!text || end == text || *end || n > 32767 || n < INT_MIN)
		return start ? r->above : last;
	int64_t row = n < 0 && -n > r->above ? 0 : r->above + n;
	return row > last ? last : row;
}

struct capture {
	struct call *c;
	struct text *out;
	struct capture_style style;
};

static void add_cells(struct capture *x, const json_t *line)
{
	size_t i;
	json_t *run;
	json_int_t column = 0;
	bool styled = args_has(&x->c->args, 'e');
	json_array_foreach (json_object_get(line, "cells"), i, run) {
		json_int_t at = json_integer_value(json_object_get(run, "column"));
		if (styled && column < at)
			capture_style_change(x->out, &x->style, NULL);
		for (; column < at; column++)
			text_puts(x->out, " ");
		if (styled)
			capture_style_change(x->out, &x->style, run);
		text_puts(x->out, answer_text(run, "text"));
		column = at + json_integer_value(json_object_get(run, "columns"));
	}
}

/* Append a row, with trailing blanks only on request. */
static void add_line(struct capture *x, const json_t *line)
{
	bool joins = args_has(&x->c->args, 'J'), whole = joins || args_has(&x->c->args, 'N');
	/* This row continues the one above it. */
	if (joins && json_is_true(json_object_get(line, "wrapped")) && x->out->length > 0)
		x->out->length--;
	size_t start = x->out->length;
	if (whole || args_has(&x->c->args, 'e'))
		add_cells(x, line);
	else
		text_puts(x->out, answer_text(line, "text"));
	while (!whole && x->out->length > start && x->out->bytes[x->out->length - 1] == ' ')
		x->out->length--;
	text_puts(x->out, "\n");
}

static void add_lines(struct capture *x, const json_t *lines, size_t from, size_t to)
{
	for (size_t i = from; i < to && i < json_array_size(lines); i++)
		add_line(x, json_array_get(lines, i));
}

static const char *choose_query(const struct call *c)
{
	static const char with_cells[] = "eJN";
	for (const char *f = with_cells; *f; f++)
		if (args_has(&c->args, *f))
			return "format=json&cells=1";
	return "format=text";
}

/* Append rows of the scrollback by their numbers, without row to. */
static int add_above(struct capture *x, const struct pane *p, int64_t from, int64_t to)
{
	struct answer a;
	struct call *c = x->c;
	while (from < to) {
		int rc = backend_request(c->t, "GET",
			call_path(p->session, "/scrollback?%s&from=%" PRId64 "&to=%" PRId64,
				choose_query(c), from, to),
			NULL, &a);
		if (rc != 0)
			return rc;
		const json_t *next = json_object_get(a.json, "next"),
			     *lines = json_object_get(a.json, "lines");
		uint64_t reached = (uint64_t)to;
		if (a.json)
			add_lines(x, lines, 0, json_array_size(lines));
		else if (a.body)
			text_add(x->out, a.body, a.length);
		if (json_is_integer(next))
			reached = (uint64_t)json_integer_value(next);
		else if (!a.json && a.to[0])
			cli_parse_number(a.to, INT64_MAX, &reached);
		answer_finish(&a);
		from = (int64_t)reached > from ? (int64_t)reached : to;
	}
	return 0;
}

static int add_screen(struct capture *x, struct pane *p, int64_t from, int64_t to)
{
	struct answer a;
	struct call *c = x->c;
	if (strcmp(choose_query(c), "format=text") == 0) {
		add_lines(x, json_object_get(backend_screen(c->t, p), "lines"), (size_t)from,
			(size_t)to);
		return 0;
	}
	int rc = backend_request(
		c->t, "GET", call_path(p->session, "/screen?%s", choose_query(c)), NULL, &a);
	if (rc != 0)
		return rc;
	add_lines(x, json_object_get(a.json, "lines"), (size_t)from, (size_t)to);
	answer_finish(&a);
	return 0;
}

/* -C: escape control characters, as \033. */
static struct text escape(struct call *c, const struct text *in)
{
	struct text out = {.arena = &c->t->arena};
	for (size_t i = 0; i < in->length; i++) {
		unsigned char b = (unsigned char)in->bytes[i];
		if (b == '\\')
			text_puts(&out, "\\\\");
		else if (b != '\n' && (b < 0x20 || b == 0x7f))
			text_print(&out, "\\%03o", b);
		else
			text_add(&out, in->bytes + i, 1);
	}
	return out;
}

static int capture(struct call *c, const struct place *at, struct text *out)
{
	const json_t *screen = backend_screen(c->t, at->pane);
	int64_t limit;
	struct capture x = {.c = c, .out = out};
	struct range r = {.rows = json_integer_value(json_object_get(screen, "rows"))};
	if (!screen)
		return at->pane->info
			? tmux_error(c->t, "the screen of pane %%%u cannot be fetched", at->pane->id)
			: 0;
	r.above = backend_history(c->t, at->pane, &r.first, &limit);
	if (json_is_true(json_object_get(screen, "alternate")))
		r.above = 0;
	r.top = read_row(c, at, 'S', &r);
	r.end = read_row(c, at, 'E', &r);
	if (r.end < r.top) {
		int64_t top = r.top;
		r.top = r.end;
		r.end = top;
	}
	int64_t above_end = r.end + 1 < r.above ? r.end + 1 : r.above;
	capture_style_begin(&x.style);
	int rc = add_above(&x, at->pane, r.first + r.top, r.first + above_end);
	if (rc == 0 && r.end >= r.above)
		rc = add_screen(
			&x, at->pane, r.top > r.above ? r.top - r.above : 0, r.end - r.above + 1);
	return rc;
}

int do_capture_pane(struct call *c)
{
	struct text out = {.arena = &c->t->arena};
	int rc = 0;
	if (args_has(&c->args, 'a')) {
		bool on = json_is_true(
			json_object_get(backend_screen(c->t, c->at.pane), "alternate"));
		if (on || !args_has(&c->args, 'q'))
			return tmux_error(c->t,
				on ? "capture-pane -a: not available here" : "no alternate screen");
	}
	/* -P is empty: the server has the pending part of an escape sequence. */
	if (!args_has(&c->args, 'P') && !args_has(&c->args, 'a'))
		rc = capture(c, &c->at, &out);
	if (rc != 0)
		return rc;
	if (args_has(&c->args, 'C'))
		out = escape(c, &out);
	if (!args_has(&c->args, 'p'))
		return buffers_write(c->t, args_value(&c->args, 'b'), text_get(&out), out.length);
	if (out.length > 0 && out.bytes[out.length - 1] == '\n')
		out.length--;
	tmux_say_bytes(c->t, text_get(&out), out.length);
	tmux_say_line(c->t, "");
	return 0;
}

/* The server keeps the scrollback; tmux commands ignore it from now on. */
int do_clear_history(struct call *c)
{
	int64_t first, limit;
	if (!backend_screen(c->t, c->at.pane))
		return c->at.pane->info
			? tmux_error(
				  c->t, "the screen of pane %%%u cannot be fetched", c->at.pane->id)
			: 0;
	int64_t count = backend_history(c->t, c->at.pane, &first, &limit);
	c->at.pane->cleared = (uint64_t)(first + count);
	return 0;
}
