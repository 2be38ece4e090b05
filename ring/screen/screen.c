/* Creation, reset, styles and state of the screen. */
#include "ring/screen/screen_internal.h"
#include "ring/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLY_MAX 512u

static const struct parser_ops ops = {
	.text = screen_print_ascii,
	.character = screen_print,
	.control = screen_control,
	.escape = screen_escape,
	.csi = screen_csi,
	.osc = screen_osc,
	.dcs = screen_dcs,
};

static const char *const unicodes[] = {
	[SCREEN_UNICODE_WCWIDTH] = "wcwidth", [SCREEN_UNICODE_GRAPHEMES] = "graphemes"};

const char *screen_unicode_name(enum screen_unicode unicode)
{
	return unicodes[unicode];
}

bool screen_unicode_parse(const char *name, enum screen_unicode *ret_unicode)
{
	for (size_t i = 0; i < sizeof unicodes / sizeof *unicodes; i++)
		if (strcmp(name, unicodes[i]) == 0) {
			*ret_unicode = (enum screen_unicode)i;
			return true;
		}
	return false;
}

const struct charsets screen_charsets = {.g = {'B', 'B', 'B', 'B'}};

const struct saved_cursor screen_unsaved = {
	.wraparound = true, .charsets = {.g = {'B', 'B', 'B', 'B'}}};

static unsigned clamp(unsigned side, unsigned min)
{
	return side < min ? min : side > SCREEN_SIDE_MAX ? SCREEN_SIDE_MAX : side;
}

/* Defaults of a full reset; everything else survives it, as in xterm.js. */
static void set_defaults(struct screen *s)
{
	struct screen_modes old = s->modes;
	s->modes = (struct screen_modes){
		.wraparound = true,
		.newline = old.newline,
		.cursor_hidden = old.cursor_hidden,
		.graphemes = s->unicode == SCREEN_UNICODE_GRAPHEMES,
	};
	s->had_graphemes = s->modes.graphemes;
	s->progress = (struct progress){0};
	s->charsets = screen_charsets;
	s->pen = (struct style){0};
	s->pen_changed = true;
	s->join = 0;
}

static void init_buffer(struct buffer *b, unsigned rows, unsigned cols)
{
	b->saved = screen_unsaved;
	b->kitty = (struct kitty_stack){0};
	buffer_empty(b, rows, cols);
}

int screen_create(struct screen **ret_screen, const struct screen_options *o)
{
	if (o->rows == 0 || o->cols == 0 || o->rows > SCREEN_SIDE_MAX || o->cols > SCREEN_SIDE_MAX)
		return -EINVAL;
	struct screen *s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	s->rows = clamp(o->rows, 1);
	s->cols = clamp(o->cols, SCREEN_COLS_MIN);
	s->callbacks = o->callbacks;
	s->user = o->user;
	s->mark_secret = o->mark_secret;
	s->unicode = o->unicode;
	s->active = &s->primary;
	s->version = s->primary.moved = o->version + 1;
	s->next_link = 1;
	s->palette.theme = theme_default;
	parser_init(&s->parser, &ops, s, o->offset);
	scrollback_init(&s->scrollback,
		o->scrollback < SCREEN_SCROLLBACK_MAX ? o->scrollback : SCREEN_SCROLLBACK_MAX);
	intern_init(&s->styles, SCREEN_STYLES_MAX, SCREEN_INTERN_BYTES);
	intern_init(&s->clusters, SCREEN_CLUSTERS_MAX, SCREEN_INTERN_BYTES);
	intern_init(&s->links, SCREEN_LINKS_MAX, SCREEN_INTERN_BYTES);
	screen_plan_sweeps(s);
	s->scrollback.styles = &s->styles;
	s->scrollback.clusters = &s->clusters;
	init_buffer(&s->primary, s->rows, s->cols);
	init_buffer(&s->alternate, s->rows, s->cols);
	set_defaults(s);
	if (!screen_make_pool(s, s->rows) || !buffer_fill_shared(&s->primary, s->rows, s->cols)) {
		screen_destroy(s);
		return -ENOMEM;
	}
	*ret_screen = s;
	return 0;
}

static void free_titles(struct title_stack *stack)
{
	while (stack->count > 0)
		free(stack->items[--stack->count]);
}

void screen_destroy(struct screen *s)
{
	if (!s)
		return;
	buffer_empty(&s->primary, 0, 0);
	buffer_empty(&s->alternate, 0, 0);
	screen_free_pool(s);
	scrollback_finish(&s->scrollback);
	markers_finish(&s->markers);
	intern_finish(&s->styles);
	intern_finish(&s->clusters);
	intern_finish(&s->links);
	parser_finish(&s->parser);
	free_titles(&s->titles);
	free_titles(&s->icons);
	free(s->palette.indexed);
	free(s->title);
	free(s->icon);
	free(s->cwd);
	free(s);
}

void screen_reset(struct screen *s)
{
	struct scrollback old = s->scrollback;
	scrollback_init_behind(&s->scrollback, &old);
	s->scrollback.dropped = old.dropped + old.count;
	scrollback_finish(&old);
	markers_finish(&s->markers);
	init_buffer(&s->alternate, s->rows, s->cols);
	s->active = &s->primary;
	screen_fill_rows(s, 0, s->rows, (struct cell){0});
	struct line **rows = s->primary.rows;
	unsigned first = s->primary.first, count = s->primary.count;
	s->primary.rows = NULL;
	init_buffer(&s->primary, s->rows, s->cols);
	s->primary.rows = rows;
	s->primary.first = first;
	s->primary.count = count;
	s->primary.moved = s->version;
	set_defaults(s);
	parser_reset(&s->parser);
}

/* Styles */

uint32_t screen_style(struct screen *s, const struct style *style)
{
	static const struct style plain;
	if (style_equals(style, &plain))
		return 0;
	uint32_t mixed = (style->fg ^ style->bg * 3 ^ style->link * 5 ^ style->flags * 7u) *
		0x9e3779b1u;
	struct recent_style *recent = &s->recent[mixed >> 26];
	if (recent->number == 0 || !style_equals(&recent->style, style))
		*recent = (struct recent_style){
			.style = *style, .number = intern_put(&s->styles, style, sizeof *style)};
	return recent->number;
}

_Static_assert(SCREEN_RECENT == 1u << (32 - 26), "the hash has as many bits as there are places");

void screen_find_pen(struct screen *s)
{
	struct style style = s->pen;
	if (!(style.flags & STYLE_EXTENDED))
		style.underline_color = style.link = style.underline = 0;
	screen_sweep(s, &s->styles);
	s->pen_style = screen_style(s, &style);
	s->erase_style = style.bg == COLOR_DEFAULT
		? 0
		: screen_style(s, &(struct style){.bg = style.bg});
	s->pen_changed = false;
}

uint32_t screen_put_cluster(struct screen *s, const uint32_t *codes, size_t count)
{
	screen_sweep(s, &s->clusters);
	return intern_put(&s->clusters, codes, count * sizeof *codes);
}

static void mark_cell(struct screen *s, struct cell cell)
{
	intern_mark(&s->styles, cell.style);
	if (cell.text & CELL_CLUSTER)
		intern_mark(&s->clusters, cell.text & CELL_CODE);
}

static void mark_buffer(struct screen *s, const struct buffer *b)
{
	const struct line *last = NULL;
	for (unsigned y = 0; b->rows && y < b->count; y++) {
		const struct line *line = b->rows[y];
		for (unsigned x = 0; line != last && x < line->used; x++)
			mark_cell(s, line->cells[x]);
		last = line;
	}
}

static void mark_pen(struct screen *s)
{
	if (!s->pen_changed) {
		intern_mark(&s->styles, s->pen_style);
		intern_mark(&s->styles, s->erase_style);
	}
	intern_mark(&s->links, s->pen.link);
	intern_mark(&s->links, s->held_link);
}

static void mark_links(struct screen *s)
{
	for (uint32_t i = 1; i < s->styles.capacity; i++) {
		const struct style *style = intern_get(&s->styles, i, NULL);
		if (style && style->link != 0)
			intern_use_like(&s->links, style->link, &s->styles, i);
	}
}

/* Absolute rows change with the lines dropped, as in xterm.js when a scrollback shrinks. */
void screen_drop_lines(struct screen *s, unsigned n)
{
	n = n < s->scrollback.count ? n : s->scrollback.count;
	scrollback_drop(&s->scrollback, n);
	s->primary.saved.y = s->primary.saved.y > (int64_t)n ? s->primary.saved.y - (int64_t)n : 0;
}

/* The scrollback is not scanned: its lines registered their uses when they were added. */
void screen_collect(struct screen *s)
{
	struct intern *const tables[] = {&s->styles, &s->clusters, &s->links};
	uint64_t oldest = s->scrollback.number, end = oldest + s->scrollback.count, keep = oldest;
	mark_buffer(s, &s->primary);
	mark_buffer(s, &s->alternate);
	mark_pen(s);
	if (s->links.count > 0)
		mark_links(s);
	/* If too many are in use, the oldest lines are dropped. */
	for (unsigned i = 0; i < 3; i++) {
		uint64_t wanted = intern_oldest(tables[i], oldest, end);
		keep = wanted > keep ? wanted : keep;
	}
	screen_drop_lines(s, (unsigned)(keep - oldest));
	for (unsigned i = 0; i < 3; i++)
		intern_sweep(tables[i], keep);
	memset(s->recent, 0, sizeof s->recent);
}

void screen_sweep(struct screen *s, const struct intern *t)
{
	if (!s->defer_sweeps && intern_needs_sweep(t))
		screen_collect(s);
}

void screen_plan_sweeps(struct screen *s)
{
	intern_set_cells(&s->styles, (size_t)s->rows * s->cols);
	intern_set_cells(&s->clusters, (size_t)s->rows * s->cols);
	intern_set_cells(&s->links, (size_t)s->rows * s->cols);
}

/* Input */

size_t screen_feed(struct screen *s, const void *bytes, size_t length, size_t work)
{
	const uint8_t *at = bytes, *end = at + length;
	s->version++;
	s->work = 0;
	s->work_max = work;
	do {
		s->pause = false;
		if (screen_bulk_can_begin(s))
			at += screen_bulk(s, at, (size_t)(end - at));
		at += parser_feed(&s->parser, at, (size_t)(end - at), &s->pause);
	} while (at < end && s->work < s->work_max);
	/* Free blocks that were read to change or drop frozen lines. */
	scrollback_drop_cache(&s->scrollback);
	return length - (size_t)(end - at);
}

size_t screen_work(const struct screen *s)
{
	return s->work;
}

void screen_mute(struct screen *s, bool muted)
{
	s->muted = muted;
}

/* Output */

void screen_reply(struct screen *s, const char *format, ...)
{
	char reply[REPLY_MAX];
	va_list list;
	if (s->muted || !s->callbacks || !s->callbacks->reply)
		return;
	va_start(list, format);
	int length = vsnprintf(reply, sizeof reply, format, list);
	va_end(list);
	if (length > 0 && (size_t)length < sizeof reply)
		s->callbacks->reply(s->user, reply, (size_t)length);
}

void screen_emit(struct screen *s, struct screen_event event)
{
	if (s->muted || !s->callbacks || !s->callbacks->event)
		return;
	unsigned row, col;
	screen_cursor(s, &row, &col);
	event.offset = s->parser.offset;
	event.line = screen_dropped(s) + screen_scrollback(s) + row;
	event.column = col + 1;
	s->callbacks->event(s->user, &event);
}

void screen_set_text(char **where, const char *text, size_t length, size_t max)
{
	length = utf8_cut(text, length, max);
	char *copy = malloc(length + 1);
	if (!copy)
		return;
	memcpy(copy, text, length);
	copy[length] = '\0';
	free(*where);
	*where = copy;
}

uint64_t screen_offset(const struct screen *s)
{
	return s->parser.offset;
}

uint64_t screen_resume_offset(const struct screen *s)
{
	const struct parser *p = &s->parser;
	if (p->tokenizer.state != TOKENIZER_GROUND)
		return p->start;
	return p->offset - tokenizer_unfinished(&p->tokenizer);
}

unsigned screen_rows(const struct screen *s)
{
	return s->rows;
}

unsigned screen_cols(const struct screen *s)
{
	return s->cols;
}

const struct screen_modes *screen_modes(const struct screen *s)
{
	return &s->modes;
}

bool screen_is_alternate(const struct screen *s)
{
	return s->active == &s->alternate;
}

void screen_cursor(const struct screen *s, unsigned *ret_row, unsigned *ret_col)
{
	*ret_row = s->active->y;
	*ret_col = s->active->x < s->cols ? s->active->x : s->cols;
}

const char *screen_title(const struct screen *s)
{
	return s->title ? s->title : "";
}

const char *screen_icon(const struct screen *s)
{
	return s->icon ? s->icon : "";
}

struct progress screen_progress(const struct screen *s)
{
	return s->progress;
}

const char *screen_cwd(const struct screen *s)
{
	return s->cwd ? s->cwd : "";
}

uint64_t screen_version(const struct screen *s)
{
	return s->version;
}

uint64_t screen_row_version(const struct screen *s, unsigned row)
{
	uint64_t version = screen_line(s, row)->version;
	return version > s->active->moved ? version : s->active->moved;
}

unsigned screen_scrollback(const struct screen *s)
{
	return s->scrollback.count;
}

unsigned screen_scrollback_max(const struct screen *s)
{
	return s->scrollback.max;
}

uint64_t screen_dropped(const struct screen *s)
{
	return s->scrollback.dropped;
}

static size_t buffer_memory(const struct buffer *b)
{
	size_t bytes = b->rows ? b->count * sizeof *b->rows : 0;
	for (unsigned y = 0; b->rows && y < b->count; y++)
		bytes += (sizeof *b->rows[y] + b->rows[y]->length * sizeof(struct cell)) /
			(b->rows[y]->shares + 1);
	return bytes;
}

size_t screen_memory(const struct screen *s)
{
	size_t line = sizeof(struct line) + s->cols * sizeof(struct cell);
	return sizeof *s + buffer_memory(&s->primary) + buffer_memory(&s->alternate) +
		s->rows * sizeof *s->pool + s->pooled * line + scrollback_memory(&s->scrollback) +
		intern_memory(&s->styles) + intern_memory(&s->clusters) + intern_memory(&s->links) +
		s->parser.string_capacity + s->markers.capacity * sizeof *s->markers.items;
}
