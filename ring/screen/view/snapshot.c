/* The parts of a snapshot, in an order in which none undoes an earlier one. */
#include "ring/screen/view/snapshot.h"

#include "ring/screen/view/paint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct style plain;

/*
 * Reset: CAN ends any unfinished sequence; RIS; the primary buffer, which RIS selects neither in
 * tmux nor in libvterm, emptied so that none of it goes into a scrollback; and what RIS leaves in
 * xterm.js: newline mode, colours, and saved titles.
 */
static void reset(struct painter *p)
{
	output_text(&p->out, "\030\033c\033[?1047l\033[9999;1H\033[1J\033[2K\033[H");
	output_text(&p->out, "\033[20l\033]104\033\\\033]110\033\\\033]111\033\\\033]112\033\\");
	for (unsigned i = 0; i < SCREEN_TITLES_MAX; i++)
		output_text(&p->out, "\033[23;0t");
	/* Terminals differ in the mode after a reset. */
	if (p->mixed)
		output_text(&p->out, p->clusters ? "\033[?2027h" : "\033[?2027l");
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

static void put_kitty_flags(struct painter *p, uint8_t flags)
{
	output_format(&p->out, "\033[=%u;1u", flags);
}

/* The stack of the active buffer. */
static void put_kitty_stack(struct painter *p, const struct kitty_stack *k)
{
	for (unsigned i = 0; i < k->count; i++) {
		put_kitty_flags(p, k->saved[i]);
		output_text(&p->out, "\033[>0u");
	}
}

/* The current flags, behind all switches of the buffer but those that remember the others. */
static void put_kitty(struct painter *p)
{
	const struct screen *s = p->s;
	uint8_t current = s->modes.kitty_flags, kept = s->active->kitty.flags;
	if (!screen_is_alternate(s) && kept != 0) {
		put_kitty_flags(p, kept);
		output_text(&p->out, "\033[?1047h\033[?1047l");
	}
	if (current != 0 || kept != 0)
		put_kitty_flags(p, current);
}

/* The lines of a buffer, with part of the scrollback. */
struct source {
	const struct screen *s;
	const struct buffer *buffer;
	unsigned above; /* lines of scrollback */
};

static struct painted get_line(const void *user, size_t i)
{
	const struct source *from = user;
	if (i < from->above)
		return (struct painted){.packed = scrollback_get(&from->s->scrollback,
						from->s->scrollback.count - from->above + i)};
	return (struct painted){.line = buffer_row(from->buffer, (unsigned)(i - from->above))};
}

static void put_lines(struct painter *p, const struct buffer *b, unsigned above)
{
	struct source from = {.s = p->s, .buffer = b, .above = above};
	size_t count = (size_t)above + p->s->rows;
	/* Omit blank rows at the bottom, unless the screen must scroll. */
	size_t least = p->on_mark ? p->mark + 1 : 1;
	while (above == 0 && count > least && !p->offsets) {
		const struct line *line = buffer_row(b, (unsigned)count - 1);
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

/* Move the cursor, at most to the last column. */
static void put_position(struct painter *p, unsigned x, unsigned y)
{
	output_format(&p->out, "\033[%u;%uH", y + 1, (x < p->s->cols ? x : p->s->cols - 1) + 1);
}

/* If the cursor is beyond a pending wrap, a lone mark moves it there. */
static void put_beyond(struct painter *p, unsigned x)
{
	static const char mark[] = "\0\xcc\x81";
	if (x <= p->s->cols)
		return;
	paint_clusters(p, false);
	output_put(&p->out, mark, sizeof mark - 1);
}

/* Move the cursor in the alternate buffer and switch back: this reaches all places. */
static void put_from_alternate(struct painter *p, unsigned x, unsigned y)
{
	output_text(&p->out, "\033[?1047h");
	put_position(p, x, y);
	if (x >= p->s->cols)
		output_text(&p->out, " ");
	put_beyond(p, x);
	output_text(&p->out, "\033[?1047l");
}

/* Whether the cursor is outside of the region in origin mode, where no sequence reaches it. */
static bool is_outside(const struct screen *s)
{
	const struct buffer *b = s->active;
	return s->modes.origin && !screen_is_alternate(s) && (b->y < b->top || b->y > b->bottom);
}

/* Move to column x of the cursor's row. CHA would not do: in origin mode it changes the row. */
static void put_column(struct painter *p, unsigned x)
{
	const struct screen *s = p->s;
	const struct buffer *b = s->active;
	if (is_outside(s))
		put_from_alternate(p, x, b->y);
	else
		put_position(p, x, b->y - (s->modes.origin ? b->top : 0));
}

/* Whether column x follows a first half of a wide character, which drawing there would blank. */
static bool is_behind_half(const struct line *line, unsigned x)
{
	return x > 0 && x <= line->length && cell_width(line->cells[x - 1]) == 2;
}

/* Set the cursor of the active buffer. draws: drawing is allowed, which changes the pen. */
static void put_cursor(struct painter *p, bool draws)
{
	const struct screen *s = p->s;
	const struct buffer *b = s->active;
	const struct line *line = buffer_row(b, b->y);
	if (b->x < s->cols) {
		put_column(p, b->x);
		return;
	}
	/* No wrap can be pending after an empty column. */
	unsigned x = paint_pending_column(line, s->cols);
	bool elsewhere = line->cells[s->cols - 1].text == 0 || is_behind_half(line, x);
	if ((elsewhere || !draws) && !screen_is_alternate(s)) {
		put_from_alternate(p, b->x, b->y);
		return;
	}
	put_column(p, x);
	paint_pending_wrap(p, line, s->cols);
	put_beyond(p, b->x);
}

/* DECSC with the saved pen, charsets and modes. before: what to draw first, in the saved column. */
static void save(struct painter *p, const struct saved_cursor *saved, const char *before)
{
	struct style pen = {.fg = saved->fg, .bg = saved->bg, .flags = saved->flags};
	/* The slot has the flags of underline and link, but not their details. */
	if (pen.flags & STYLE_UNDERLINE)
		pen.underline = UNDERLINE_SINGLE;
	bool marked = (pen.flags & STYLE_EXTENDED) && !(pen.flags & STYLE_UNDERLINE);
	paint_pen(p, &pen);
	output_text(&p->out, before);
	output_text(&p->out, marked ? "\033]8;;x\033\\" : "");
	paint_charsets(p, &saved->charsets);
	output_text(&p->out, saved->wraparound ? "\0337" : "\033[?7l\0337\033[?7h");
	paint_default_charsets(p, &saved->charsets);
	output_text(&p->out, marked ? "\033]8;;\033\\" : "");
	paint_pen(p, &plain);
}

/*
 * Save the cursor in the current row, that of line p->mark, of which only the cells before `at` are
 * drawn. Origin mode moves the cursor to the top left corner; no margins are set yet.
 */
static void save_here(struct painter *p, unsigned at)
{
	const struct saved_cursor *saved = p->user;
	unsigned cols = p->s->cols;
	unsigned row = p->mark < p->s->rows ? (unsigned)p->mark : p->s->rows - 1;
	bool pending = saved->x >= cols;
	if (saved->origin)
		output_format(&p->out, "\033[?6h\033[%ud", row + 1);
	output_format(&p->out, "\033[%uG", pending ? cols : saved->x + 1);
	save(p, saved, pending ? " " : "");
	if (saved->origin)
		output_format(&p->out, "\033[?6l\033[%ud", row + 1);
	if (pending)
		output_format(&p->out, "\033[%uG\033[X", cols);
	output_format(&p->out, "\033[%uG", at + 1);
}

static bool is_saved(const struct buffer *b)
{
	const struct saved_cursor *saved = &b->saved;
	return saved->x > 0 || saved->y > 0 || saved->fg || saved->bg || saved->flags ||
		saved->origin || !saved->wraparound || saved->charsets.designated > 0 ||
		saved->charsets.level > 0;
}

/* Draw the lines of a buffer and save the cursor in one of them. above: lines of scrollback. */
static void put_saved_and_lines(struct painter *p, const struct buffer *b, unsigned above)
{
	struct saved_cursor saved = b->saved;
	if (b == &p->s->primary)
		saved.y -= (int64_t)(p->s->scrollback.count - above);
	if (saved.y < 0)
		saved.y = 0;
	p->user = &saved;
	p->mark = (size_t)saved.y;
	p->on_mark = is_saved(b) ? save_here : NULL;
	/* The saved row is absolute and beyond the last line: scroll there for a moment. */
	if (p->on_mark && p->mark >= above + p->s->rows) {
		for (size_t i = 0; i < p->mark; i++)
			output_text(&p->out, "\n");
		save_here(p, 0);
		output_text(&p->out, "\033[3J\033[H");
	}
	put_lines(p, b, above);
	p->on_mark = NULL;
}

/*
 * Whether the primary buffer's cursor is saved at its present place without attributes, as DECSET
 * 1049 does. tmux stores what 1049 saves apart from DECSC. A background would fill the alternate
 * buffer.
 */
static bool is_saved_there(const struct screen *s)
{
	const struct saved_cursor *saved = &s->primary.saved;
	return saved->x == s->primary.x && saved->x < s->cols &&
		saved->y == (int64_t)s->scrollback.count + s->primary.y && !saved->fg &&
		!saved->bg && !saved->flags && !saved->origin && saved->wraparound &&
		memcmp(saved->charsets.g, screen_charsets.g, sizeof saved->charsets.g) == 0 &&
		saved->charsets.level == 0;
}

/* What the alternate buffer keeps while it is not in use; while it is: what is set before. */
static void put_behind(struct painter *p)
{
	const struct buffer *b = &p->s->alternate;
	bool inactive = !screen_is_alternate(p->s);
	bool saved = inactive && is_saved(b), stack = inactive && b->kitty.count > 0;
	if (!saved && !stack && b->kitty.flags == 0)
		return;
	output_text(&p->out, "\033[?1047h");
	if (stack)
		put_kitty_stack(p, &b->kitty);
	if (b->kitty.flags != 0)
		put_kitty_flags(p, b->kitty.flags);
	if (saved) {
		p->user = &b->saved;
		p->mark = (size_t)b->saved.y;
		output_format(&p->out, "\033[%ud", (unsigned)b->saved.y + 1);
		save_here(p, 0);
	}
	output_text(&p->out, "\033[?1047l\033[H");
}

static void put_buffers(struct painter *p, unsigned lines)
{
	const struct screen *s = p->s;
	put_behind(p);
	put_tabs(p, &s->primary);
	put_kitty_stack(p, &s->primary.kitty);
	put_saved_and_lines(p, &s->primary, lines);
	put_margins(p, &s->primary);
	if (!screen_is_alternate(s))
		return;
	if (s->primary.kitty.flags != 0)
		put_kitty_flags(p, s->primary.kitty.flags);
	/* The primary buffer's cursor matters for a reflow. */
	put_position(p, s->primary.x, s->primary.y);
	output_text(&p->out, is_saved_there(s) ? "\033[?1049h\033[H" : "\033[?1047h\033[H");
	put_tabs(p, &s->alternate);
	put_kitty_stack(p, &s->alternate.kitty);
	put_saved_and_lines(p, &s->alternate, 0);
	put_margins(p, &s->alternate);
}

/*
 * Whether a mark would join the character before the cursor, or REP repeat it. Any sequence ends
 * that state, so the character is drawn again at the very end.
 */
static bool is_joinable(const struct painter *p, struct cell *ret_cell)
{
	const struct screen *s = p->s;
	const struct buffer *b = s->active;
	const struct line *line = buffer_row(b, b->y);
	struct style pen = s->pen;
	if (s->join == 0 || b->x < s->join || b->x - s->join >= line->length)
		return false;
	struct cell cell = line->cells[b->x - s->join];
	if (is_behind_half(line, b->x - s->join))
		return false;
	if (!(pen.flags & STYLE_EXTENDED))
		pen.underline_color = pen.link = pen.underline = 0;
	*ret_cell = cell;
	/* In insert mode it must be deleted first, which moves the cursor into the region. */
	if (s->modes.insert && is_outside(s))
		return false;
	return cell_has_content(cell) && cell_width(cell) == s->join &&
		memcmp(paint_style(p, cell.style), &pen, sizeof pen) == 0;
}

static void put_joinable(struct painter *p, struct cell cell)
{
	const struct screen *s = p->s;
	const struct buffer *b = s->active;
	put_column(p, b->x - s->join);
	if (s->modes.insert)
		output_format(&p->out, "\033[%uP", s->join);
	p->charset = screen_charset(s);
	paint_text(p, cell);
}

static void put_mode(struct painter *p, bool on, const char *sequence)
{
	if (on)
		output_text(&p->out, sequence);
}

static void put_modes(struct painter *p)
{
	static const char *const mouse[] = {
		"", "\033[?9h", "\033[?1000h", "\033[?1002h", "\033[?1003h"};
	static const char *const encoding[] = {"", "\033[?1006h", "\033[?1016h"};
	const struct screen_modes *m = &p->s->modes;
	paint_clusters(p, m->graphemes);
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
	put_kitty(p);
	/* RIS does not reset this in xterm.js. */
	output_text(&p->out, m->cursor_hidden ? "\033[?25l" : "\033[?25h");
	/* Last, because the terminal may reply to it at once. */
	put_mode(p, m->focus, "\033[?1004h");
}

/* Parts that depend on each other, in a fixed order. */
static void put_cursor_pen_and_modes(struct painter *p, bool checkpoint)
{
	const struct screen *s = p->s;
	struct cell cell;
	bool joinable = is_joinable(p, &cell);
	bool pen = paint_restored_pen(p);
	put_mode(p, s->modes.origin, "\033[?6h");
	if (!joinable)
		put_cursor(p, !pen);
	/* If drawing changed the pen, restore at least its look. */
	if (!pen || memcmp(&p->pen, &s->pen, sizeof s->pen) != 0)
		paint_pen(p, &s->pen);
	paint_charsets(p, &s->charsets);
	put_modes(p);
	/* Not sent to clients: they would show nothing until the program ends it. */
	put_mode(p, checkpoint && s->modes.synchronized_output, "\033[?2026h");
	if (joinable)
		put_joinable(p, cell);
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

/* Lines of the shell's marks, only those within the snapshot. */
static void put_markers(struct painter *p, uint64_t oldest)
{
	const struct markers *all = &p->s->markers;
	for (unsigned i = 0; i < all->count; i++) {
		const struct marker *m = &all->items[i];
		if (m->line >= oldest)
			output_format(&p->out, "\033]7007;m%c%c%llu,%llu\a", m->kind,
				m->left ? '0' : '1', (unsigned long long)m->offset,
				(unsigned long long)m->line);
	}
}

enum kind { PLAIN, MARKED, CHECKPOINT };

static int build_snapshot(
	struct screen *s, unsigned lines, enum kind kind, struct snapshot *ret_snapshot)
{
	bool checkpoint = kind == CHECKPOINT;
	struct painter p = {.s = s,
		.offsets = checkpoint,
		.images = kind != PLAIN,
		.mixed = s->had_graphemes,
		.clusters = s->modes.graphemes};
	if (lines > s->scrollback.count)
		lines = s->scrollback.count;
	reset(&p);
	if (checkpoint)
		output_format(&p.out, "\033]7007;d%llu\a",
			(unsigned long long)(s->scrollback.dropped + s->scrollback.count - lines));
	put_palette(&p);
	put_titles(&p);
	put_buffers(&p, lines);
	if (checkpoint && s->markers.runs)
		output_text(&p.out, "\033]7007;mC\a");
	if (kind != PLAIN)
		put_markers(&p, s->scrollback.dropped + s->scrollback.count - lines);
	if (checkpoint && s->progress.state != PROGRESS_NONE)
		output_format(&p.out, "\033]9;4;%u;%u\a", (unsigned)s->progress.state,
			s->progress.percent);
	put_cursor_pen_and_modes(&p, checkpoint);
	bool whole = scrollback_is_whole(&s->scrollback);
	scrollback_drop_cache(&s->scrollback);
	if (p.out.failed || !whole) {
		free(p.out.bytes);
		return -ENOMEM;
	}
	*ret_snapshot = (struct snapshot){
		.bytes = p.out.bytes, .length = p.out.length, .lines = lines};
	return 0;
}

int screen_snapshot(struct screen *s, unsigned lines, struct snapshot *ret_snapshot)
{
	return build_snapshot(s, lines, PLAIN, ret_snapshot);
}

int screen_marked_snapshot(struct screen *s, unsigned lines, struct snapshot *ret_snapshot)
{
	return build_snapshot(s, lines, MARKED, ret_snapshot);
}

int screen_checkpoint(struct screen *s, unsigned lines, struct snapshot *ret_snapshot)
{
	return build_snapshot(s, lines, CHECKPOINT, ret_snapshot);
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
