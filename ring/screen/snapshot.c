/* The order of a snapshot: what comes later must not undo what came before. */
#include "ring/screen/snapshot.h"

#include "ring/screen/paint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct style plain;

/* Reset: CAN for whatever the terminal is in the middle of; RIS; and what RIS leaves in xterm.js. */
static void reset(struct painter *p)
{
	output_text(&p->out, "\030\033c\033[20l\033]104\033\\\033]110\033\\\033]111\033\\\033]112\033\\");
}

static void put_rgb(struct output *o, uint32_t rgb)
{
	output_format(o, "rgb:%02x/%02x/%02x\033\\", rgb >> 16 & 0xff, rgb >> 8 & 0xff, rgb & 0xff);
}

static void put_palette(struct painter *p)
{
	const struct palette *palette = &p->s->palette;
	for (unsigned i = 0; palette->indexed && i < PALETTE_SIZE; i++)
		if (palette->indexed[i]) {
			output_format(&p->out, "\033]4;%u;", i);
			put_rgb(&p->out, palette->indexed[i]);
		}
	for (unsigned i = 0; i < 3; i++)
		if (palette->dynamic[i]) {
			output_format(&p->out, "\033]%u;", 10 + i);
			put_rgb(&p->out, palette->dynamic[i]);
		}
}

static void put_tabs(struct painter *p, const struct buffer *b)
{
	unsigned cols = p->s->cols;
	bool usual = true;
	for (unsigned col = 0; col < cols; col++)
		usual = usual && buffer_has_tab(b, col) == (col % 8 == 0);
	if (usual)
		return;
	output_text(&p->out, "\033[3g");
	for (unsigned col = 0; col < cols; col++)
		if (buffer_has_tab(b, col))
			output_format(&p->out, "\033[%uG\033H", col + 1);
	output_text(&p->out, "\r");
}

static void put_kitty(struct painter *p, const struct kitty_stack *k)
{
	for (unsigned i = 0; i < k->count; i++)
		output_format(&p->out, "\033[=%u;1u\033[>0u", k->saved[i]);
	if (k->count > 0 || k->flags != 0)
		output_format(&p->out, "\033[=%u;1u", k->flags);
}

/* The lines of a buffer, with some of the scrollback. */
struct source {
	const struct screen *s;
	const struct buffer *buffer;
	unsigned above; /* lines of scrollback */
};

static struct line *row(const struct buffer *b, unsigned y)
{
	unsigned i = b->first + y;
	return b->rows[i >= b->count ? i - b->count : i];
}

static struct painted get_line(const void *user, size_t i)
{
	const struct source *from = user;
	if (i < from->above)
		return (struct painted){.packed = scrollback_get(&from->s->scrollback,
						from->s->scrollback.count - from->above + i)};
	return (struct painted){.line = row(from->buffer, (unsigned)(i - from->above))};
}

static void put_lines(struct painter *p, const struct buffer *b, unsigned above)
{
	struct source from = {.s = p->s, .buffer = b, .above = above};
	size_t count = (size_t)above + p->s->rows;
	/* Blank rows at the bottom are there already, unless the screen has to scroll. */
	while (above == 0 && count > 1 && !p->offsets) {
		const struct line *line = row(b, (unsigned)count - 1);
		if (line->wrapped || line_extent(line) > 0)
			break;
		count--;
	}
	paint_lines(p, get_line, &from, count, p->s->cols, p->s->rows);
	paint_pen(p, &plain);
}

static void put_margins(struct painter *p, const struct buffer *b)
{
	if (b->top > 0 || b->bottom + 1 < p->s->rows)
		output_format(&p->out, "\033[%u;%ur", b->top + 1, b->bottom + 1);
}

/* The cursor of the buffer in use, in the terminal's own coordinates. */
static void put_cursor(struct painter *p, const struct buffer *b, unsigned x, unsigned y, unsigned top)
{
	output_format(&p->out, "\033[%u;%uH", y - top + 1, (x < p->s->cols ? x : p->s->cols - 1) + 1);
	if (x >= p->s->cols && b->rows)
		paint_pending_wrap(p, row(b, y), p->s->cols);
}

static void put_charset(struct painter *p, char slot, uint8_t final)
{
	const char sequence[3] = {'\033', slot, (char)final};
	output_put(&p->out, sequence, sizeof sequence);
}

/* The slot of DECSC. */
static void put_saved(struct painter *p, const struct buffer *b, int64_t base)
{
	const struct saved_cursor *saved = &b->saved;
	int64_t y = saved->y - base;
	y = y < 0 ? 0 : y >= (int64_t)p->s->rows ? (int64_t)p->s->rows - 1 : y;
	if (saved->x == 0 && y == 0 && saved->fg == 0 && saved->bg == 0 && saved->flags == 0 &&
		saved->charset == 'B')
		return;
	struct style pen = {.fg = saved->fg, .bg = saved->bg, .flags = saved->flags};
	put_cursor(p, b, saved->x, (unsigned)y, 0);
	paint_pen(p, &pen);
	/* That there was a link is kept, which it was is not. */
	bool marked = (pen.flags & STYLE_EXTENDED) && !(pen.flags & STYLE_UNDERLINE);
	if (marked)
		output_text(&p->out, "\033]8;;x\033\\");
	if (saved->charset != 'B')
		put_charset(p, '(', saved->charset);
	output_text(&p->out, "\0337");
	if (saved->charset != 'B')
		put_charset(p, '(', 'B');
	if (marked)
		output_text(&p->out, "\033]8;;\033\\");
	paint_pen(p, &plain);
}

static void put_buffers(struct painter *p, unsigned lines)
{
	const struct screen *s = p->s;
	bool alternate = screen_is_alternate(s);
	if (!alternate && (s->alternate.saved.x > 0 || s->alternate.saved.y > 0 ||
				  s->alternate.saved.fg || s->alternate.saved.bg ||
				  s->alternate.saved.flags || s->alternate.saved.charset != 'B')) {
		output_text(&p->out, "\033[?1047h");
		put_saved(p, &s->alternate, 0);
		output_text(&p->out, "\033[?1047l\033[H");
	}
	put_tabs(p, &s->primary);
	put_kitty(p, &s->primary.kitty);
	put_lines(p, &s->primary, lines);
	put_saved(p, &s->primary, (int64_t)s->scrollback.count);
	put_margins(p, &s->primary);
	if (!alternate)
		return;
	output_text(&p->out, "\033[?1047h\033[H");
	put_tabs(p, &s->alternate);
	put_kitty(p, &s->alternate.kitty);
	put_lines(p, &s->alternate, 0);
	put_saved(p, &s->alternate, 0);
	put_margins(p, &s->alternate);
}

static void put_charsets(struct painter *p)
{
	static const char slots[] = "()*+";
	static const char *const invoke[] = {"", "\016", "\033n", "\033o"};
	const struct charsets *c = &p->s->charsets;
	for (unsigned i = 0; i < 4; i++)
		if (c->g[i] != 'B')
			put_charset(p, slots[i], c->g[i]);
	output_text(&p->out, invoke[c->level]);
}

static void put_cursor_and_pen(struct painter *p)
{
	const struct screen *s = p->s;
	const struct buffer *b = s->active;
	struct style pen = s->pen;
	bool restored = s->charsets.current != s->charsets.g[s->charsets.level];
	if (s->modes.origin)
		output_text(&p->out, "\033[?6h");
	/* DECRC has brought a charset back that is in none of its places: so it does here. */
	if (restored && b->saved.charset == s->charsets.current) {
		put_charsets(p);
		output_text(&p->out, "\0338");
		p->pen = (struct style){.fg = b->saved.fg, .bg = b->saved.bg, .flags = b->saved.flags};
	}
	put_cursor(p, b, b->x, b->y, s->modes.origin ? b->top : 0);
	/* Once extended always extended: what counts is what will be. */
	paint_pen(p, &pen);
	if (!(restored && b->saved.charset == s->charsets.current))
		put_charsets(p);
}

static void put_mode(struct painter *p, bool on, const char *sequence)
{
	if (on)
		output_text(&p->out, sequence);
}

static void put_modes(struct painter *p)
{
	static const char *const mouse[] = {"", "\033[?9h", "\033[?1000h", "\033[?1002h", "\033[?1003h"};
	static const char *const encoding[] = {"", "\033[?1006h", "\033[?1016h"};
	const struct screen_modes *m = &p->s->modes;
	put_mode(p, m->insert, "\033[4h");
	put_mode(p, m->newline, "\033[20h");
	put_mode(p, m->application_cursor, "\033[?1h");
	put_mode(p, m->application_keypad, "\033=");
	put_mode(p, !m->wraparound, "\033[?7l");
	put_mode(p, m->reverse_wraparound, "\033[?45h");
	put_mode(p, m->bracketed_paste, "\033[?2004h");
	put_mode(p, m->color_scheme, "\033[?2031h");
	output_text(&p->out, mouse[m->mouse]);
	output_text(&p->out, encoding[m->mouse_encoding]);
	if (m->cursor_style > 0)
		output_format(&p->out, "\033[%u q", m->cursor_style);
	if (m->modify_other_keys > 0)
		output_format(&p->out, "\033[>4;%um", m->modify_other_keys);
	/* A reset leaves these two in xterm.js. */
	if (p->s->blink_set)
		output_text(&p->out, m->cursor_blink ? "\033[?12h" : "\033[?12l");
	output_text(&p->out, m->cursor_hidden ? "\033[?25l" : "\033[?25h");
	/* Last: the terminal may answer it at once. */
	put_mode(p, m->focus, "\033[?1004h");
}

static void put_title(struct painter *p, unsigned which, const char *title)
{
	output_format(&p->out, "\033]%u;", which);
	output_text(&p->out, title);
	output_text(&p->out, "\033\\");
}

static void put_titles(struct painter *p)
{
	const struct screen *s = p->s;
	for (unsigned i = 0; i < s->titles.count; i++) {
		put_title(p, 2, s->titles.items[i]);
		output_text(&p->out, "\033[22;2t");
	}
	for (unsigned i = 0; i < s->icons.count; i++) {
		put_title(p, 1, s->icons.items[i]);
		output_text(&p->out, "\033[22;1t");
	}
	if (s->title)
		put_title(p, 2, s->title);
	if (s->icon)
		put_title(p, 1, s->icon);
	if (s->cwd) {
		output_text(&p->out, "\033]7;file://");
		for (const char *c = s->cwd; *c; c++)
			if ((uint8_t)*c <= ' ' || (uint8_t)*c >= 0x7f || *c == '%')
				output_format(&p->out, "%%%02X", (unsigned)(uint8_t)*c);
			else
				output_put(&p->out, c, 1);
		output_text(&p->out, "\033\\");
	}
}

static int take(struct screen *s, unsigned lines, bool checkpoint, struct snapshot *ret_snapshot)
{
	struct painter p = {.s = s, .offsets = checkpoint};
	if (lines > s->scrollback.count)
		lines = s->scrollback.count;
	reset(&p);
	if (checkpoint)
		output_format(&p.out, "\033]7007;d%llu\a",
			(unsigned long long)(s->scrollback.dropped + s->scrollback.count - lines));
	put_palette(&p);
	put_buffers(&p, lines);
	put_cursor_and_pen(&p);
	put_modes(&p);
	/* To clients it is never sent: they would show nothing until the program ends it. */
	put_mode(&p, checkpoint && s->modes.synchronized_output, "\033[?2026h");
	put_titles(&p);
	if (p.out.failed) {
		free(p.out.bytes);
		return -ENOMEM;
	}
	*ret_snapshot = (struct snapshot){
		.bytes = p.out.bytes, .length = p.out.length, .lines = lines};
	return 0;
}

int screen_snapshot(struct screen *s, unsigned lines, struct snapshot *ret_snapshot)
{
	return take(s, lines, false, ret_snapshot);
}

int screen_checkpoint(struct screen *s, unsigned lines, struct snapshot *ret_snapshot)
{
	return take(s, lines, true, ret_snapshot);
}

void screen_restore(struct screen *s, const void *bytes, size_t length)
{
	uint64_t offset = s->parser.offset;
	bool muted = s->muted;
	s->muted = s->private_sequences = true;
	screen_feed(s, bytes, length, SIZE_MAX);
	s->muted = muted;
	s->private_sequences = false;
	parser_reset(&s->parser);
	s->parser.offset = s->parser.start = offset;
}
