/*
 * Two ways to read lines: all at once into one text, or one by one. Only memory can fail; after
 * that a reader is unusable.
 */
#include "ring/screen/view/render.h"

#include "ring/screen/view/html.h"
#include "ring/screen/view/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct style plain;

static const struct style *style_of(const struct screen *s, struct cell cell)
{
	const struct style *style = cell.style ? intern_get(&s->styles, cell.style, NULL) : NULL;
	return style && !(style->flags & STYLE_IMAGE) ? style : &plain;
}

/* Cells of the character at `at`. */
static unsigned cells_at(const struct cell *cells, unsigned at, unsigned extent)
{
	return cell_width(cells[at]) == 2 && at + 1 < extent ? 2 : 1;
}

static void put_cell(struct painter *p, struct cell cell)
{
	if (cell_has_content(cell))
		paint_text(p, cell);
	else
		output_put(&p->out, " ", 1);
}

/* Whether a cell looks like the empty background. */
static bool is_invisible(const struct screen *s, struct cell cell)
{
	const uint16_t seen = STYLE_UNDERLINE | STYLE_INVERSE | STYLE_STRIKE | STYLE_OVERLINE;
	const struct style *style = style_of(s, cell);
	return (!cell_has_content(cell) || cell.text == ' ') && style->bg == COLOR_DEFAULT &&
		!(style->flags & seen) && style->link == 0;
}

static unsigned visible_extent(const struct screen *s, const struct cell *cells, unsigned extent)
{
	while (extent > 0 && is_invisible(s, cells[extent - 1]) &&
		!(extent > 1 && cell_width(cells[extent - 2]) == 2))
		extent--;
	return extent;
}

static size_t without_blanks(const char *text, size_t length, size_t from)
{
	while (length > from && text[length - 1] == ' ')
		length--;
	return length;
}

/* Lines as one text */

struct job {
	struct painter painter;
	struct html html;
	enum render_format format;
	size_t line_start; /* start of the current line in the output */
};

static void put_html_cell(struct painter *p, struct cell cell)
{
	char text[SCREEN_CLUSTER_MAX * 4];
	size_t at = p->out.length;
	put_cell(p, cell);
	size_t length = p->out.length - at;
	if (p->out.failed || length > sizeof text)
		return;
	memcpy(text, p->out.bytes + at, length);
	p->out.length = at;
	html_text(&p->out, text, length);
}

static void put_cells(struct job *j, const struct cell *cells, unsigned extent)
{
	struct painter *p = &j->painter;
	for (unsigned x = 0; x < extent; x += cells_at(cells, x, extent)) {
		struct style style = *style_of(p->s, cells[x]);
		if (j->format == RENDER_HTML) {
			html_style(&j->html, &p->out, &style);
			put_html_cell(p, cells[x]);
			continue;
		}
		if (j->format == RENDER_ANSI) {
			style.flags &= (uint16_t)~STYLE_PROTECTED;
			paint_pen(p, &style);
		}
		put_cell(p, cells[x]);
	}
}

static void end_line(struct job *j)
{
	struct output *out = &j->painter.out;
	if (j->format == RENDER_HTML)
		html_plain(&j->html, out);
	else if (j->format == RENDER_ANSI)
		paint_pen(&j->painter, &plain);
	else
		out->length = without_blanks(out->bytes, out->length, j->line_start);
	output_text(out, "\n");
	j->line_start = out->length;
}

static void put_line(struct job *j, uint64_t number, bool joined)
{
	struct cell cells[SCREEN_SIDE_MAX];
	const struct packed *packed = lines_get(j->painter.s, number).packed;
	/* Fast path: most lines of a scrollback are stored as plain text. */
	if (!joined && j->format == RENDER_TEXT && packed && !packed->odd &&
		packed->extent <= screen_cols(j->painter.s)) {
		output_put(&j->painter.out, packed_text(packed), packed->bytes);
		end_line(j);
		return;
	}
	unsigned extent = lines_cells(j->painter.s, number, joined, cells);
	if (!joined && j->format != RENDER_TEXT)
		extent = visible_extent(j->painter.s, cells, extent);
	put_cells(j, cells, extent);
	if (!joined)
		end_line(j);
}

static void clamp(const struct screen *s, struct render_options *o)
{
	if (o->from < lines_first(s))
		o->from = lines_first(s);
	if (o->to > lines_end(s))
		o->to = lines_end(s);
	if (o->to < o->from)
		o->to = o->from;
}

int render_lines(const struct screen *s, enum render_format format, const struct render_options *o,
	struct rendered *ret_rendered)
{
	struct render_options options = *o;
	struct job j = {.painter = {.s = s}, .html = {.s = s}, .format = format};
	struct output *out = &j.painter.out;
	clamp(s, &options);
	uint64_t n = options.from;
	if (format == RENDER_HTML)
		html_begin(&j.html, out);
	for (j.line_start = out->length; n < options.to && out->length < o->max && !out->failed;
		n++) {
		bool last = n + 1 == options.to;
		put_line(&j, n, options.join && !last && lines_wrapped(s, n + 1));
	}
	if (out->length > j.line_start)
		end_line(&j);
	if (format == RENDER_HTML)
		html_end(&j.html, out);
	else if (format == RENDER_ANSI)
		output_text(out, "\033[0m");
	output_put(out, "", 1); /* makes bytes non-NULL even if empty */
	bool whole = scrollback_is_whole(&s->scrollback);
	scrollback_drop_cache(&s->scrollback);
	if (out->failed || !whole) {
		free(out->bytes);
		return -ENOMEM;
	}
	*ret_rendered = (struct rendered){
		.bytes = out->bytes, .length = out->length - 1, .from = options.from, .to = n};
	return 0;
}

/* Line by line */

struct render {
	struct painter text; /* of the current line */
	struct render_options options;
	uint64_t next;
	struct render_run *runs; /* their text pointers are set when the line is complete */
	size_t run_count, run_capacity;
	uint32_t run_style; /* number of the last run's style */
	unsigned columns;   /* columns of the line so far */
};

int render_create(struct render **ret_render, const struct screen *s, const struct render_options *o)
{
	struct render *r = calloc(1, sizeof *r);
	if (!r)
		return -ENOMEM;
	r->text.s = s;
	r->options = *o;
	clamp(s, &r->options);
	r->next = r->options.from;
	*ret_render = r;
	return 0;
}

void render_destroy(struct render *r)
{
	if (!r)
		return;
	scrollback_drop_cache(&r->text.s->scrollback);
	free(r->text.out.bytes);
	free(r->runs);
	free(r);
}

uint64_t render_position(const struct render *r)
{
	return r->next;
}

static void set_link(const struct screen *s, struct render_run *run)
{
	size_t length = 0;
	const char *uri = html_uri(s, run->style.link, &length);
	run->link = uri;
	run->link_length = uri ? length : 0;
}

static struct render_run *run_for(struct render *r, struct cell cell)
{
	if (r->run_count > 0 && r->run_style == cell.style)
		return &r->runs[r->run_count - 1];
	if (r->run_count == r->run_capacity) {
		size_t capacity = r->run_capacity ? r->run_capacity * 2 : 64;
		struct render_run *runs = realloc(r->runs, capacity * sizeof *runs);
		if (!runs) {
			r->text.out.failed = true;
			return NULL;
		}
		r->runs = runs;
		r->run_capacity = capacity;
	}
	struct render_run *run = &r->runs[r->run_count++];
	*run = (struct render_run){.column = r->columns, .style = *style_of(r->text.s, cell)};
	set_link(r->text.s, run);
	r->run_style = cell.style;
	return run;
}

static void put_runs(struct render *r, uint64_t number, bool joined)
{
	struct cell cells[SCREEN_SIDE_MAX];
	unsigned count, extent = lines_cells(r->text.s, number, joined, cells);
	for (unsigned x = 0; x < extent; x += count) {
		count = cells_at(cells, x, extent);
		struct render_run *run = run_for(r, cells[x]);
		if (!run)
			return;
		size_t before = r->text.out.length;
		put_cell(&r->text, cells[x]);
		run->length += r->text.out.length - before;
		run->columns += count;
		r->columns += count;
	}
}

static uint64_t version_of(const struct screen *s, uint64_t number)
{
	return number < lines_base(s) ? 0
				      : screen_row_version(s, (unsigned)(number - lines_base(s)));
}

/* Number of lines joined from `number` on, and the newest version of them. */
static unsigned extent_of(const struct render *r, uint64_t number, uint64_t *ret_version)
{
	const struct screen *s = r->text.s;
	size_t most = r->options.join ? RENDER_JOINED_CELLS / s->cols : 1;
	unsigned count = 1;
	*ret_version = version_of(s, number);
	for (; count < most && number + count < r->options.to && lines_wrapped(s, number + count);
		count++) {
		uint64_t version = version_of(s, number + count);
		*ret_version = version > *ret_version ? version : *ret_version;
	}
	return count;
}

int render_next(struct render *r, struct render_line *ret_line)
{
	const struct screen *s = r->text.s;
	struct output *out = &r->text.out;
	struct render_line line = {0};
	do {
		r->next += line.count;
		if (r->next >= r->options.to)
			return 0;
		line.count = extent_of(r, r->next, &line.version);
	} while (r->options.since > 0 && line.version <= r->options.since);
	line.number = r->next;
	line.offset = lines_offset(s, line.number);
	line.wrapped = lines_wrapped(s, line.number);
	out->length = r->run_count = 0;
	r->columns = 0;
	for (unsigned i = 0; i < line.count; i++)
		put_runs(r, r->next + i, i + 1 < line.count);
	output_put(out, "", 1);
	if (out->failed || !scrollback_is_whole(&s->scrollback))
		return -ENOMEM;
	size_t at = 0;
	for (size_t i = 0; i < r->run_count; i++) {
		r->runs[i].text = out->bytes + at;
		at += r->runs[i].length;
	}
	line.text = out->bytes;
	line.length = without_blanks(out->bytes, out->length - 1, 0);
	line.runs = r->runs;
	line.run_count = r->run_count;
	r->next += line.count;
	*ret_line = line;
	return 1;
}
