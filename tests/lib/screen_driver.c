/*
 * Drives a screen for tests in other languages. Each line of stdin is a command; answers go to stdout.
 *   new ROWS COLS SCROLLBACK [UNICODE]   create a screen
 *   feed HEX                   feed output, in one piece
 *   size ROWS COLS             resize
 *   grounds HEX                feed output byte by byte: whether each leaves the parser in its ground state
 *   resume                     screen_resume_offset()
 *   widths                     a digit for each code point
 *   wcwidths                   the same by wcwidth(); "-" if that is negative. Nothing without a UTF-8 locale
 *   graphemes                  three hexadecimal digits for each code point: its kind (two) and its width
 *   dump                       the state, see dump(); ends with a line "."
 *   snapshot LINES             the snapshot in hexadecimal, with up to LINES lines of scrollback
 *   marked LINES               the same for the page
 *   replies                    replies since the last time, in hexadecimal
 *   events                     number of events since the last time
 */
#include "ring/screen/screen_internal.h"
#include "ring/screen/view/snapshot.h"
#include "ring/utf8.h"
#include "ring/screen/grid/grapheme.h"
#include "ring/screen/grid/width.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static struct screen *screen;
static char *replies;
static size_t replies_length;
static unsigned events;

static void on_reply(void *user, const char *bytes, size_t length)
{
	(void)user;
	replies = realloc(replies, replies_length + length);
	memcpy(replies + replies_length, bytes, length);
	replies_length += length;
}

static void on_event(void *user, const struct screen_event *event)
{
	(void)user;
	(void)event;
	events++;
}

static const struct screen_callbacks callbacks = {.reply = on_reply, .event = on_event};

static void put_hex(const void *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		printf("%02x", ((const unsigned char *)bytes)[i]);
	putchar('\n');
}

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static size_t from_hex(char *text)
{
	size_t n = 0;
	for (const char *at = text;
		isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1]); at += 2)
		text[n++] = (char)(digit(at[0]) << 4 | digit(at[1]));
	return n;
}

static void feed(const char *bytes, size_t length)
{
	for (size_t at = 0; at < length;)
		at += screen_feed(screen, bytes + at, length - at, SIZE_MAX);
}

static void put_grounds(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		feed(bytes + i, 1);
		putchar(parser_is_ground(&screen->parser) ? '1' : '0');
	}
	putchar('\n');
}

static void put_widths(void)
{
	for (uint32_t code = 0; code <= 0x10ffff; code++)
		putchar('0' + (int)width_of(code));
	putchar('\n');
}

static void put_wcwidths(void)
{
	bool utf8 = setlocale(LC_CTYPE, "C.UTF-8");
	for (uint32_t code = 0; code <= 0x10ffff && utf8; code++) {
		int width = wcwidth((wchar_t)code);
		putchar(width < 0 ? '-' : '0' + width);
	}
	putchar('\n');
	setlocale(LC_CTYPE, "C");
}

static void put_graphemes(void)
{
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		struct grapheme g = grapheme_next((struct grapheme){0}, code);
		printf("%02x%u", g.kind, g.width);
	}
	putchar('\n');
}

static void create(const char *line, unsigned rows, unsigned cols, unsigned scrollback)
{
	char name[16] = "wcwidth";
	struct screen_options o = {
		.rows = rows, .cols = cols, .scrollback = scrollback, .callbacks = &callbacks};
	(void)sscanf(line, "%*s %*u %*u %*u %15s", name);
	screen_destroy(screen);
	if (!screen_unicode_parse(name, &o.unicode) || screen_create(&screen, &o) < 0)
		exit(1);
}

/* Some charsets have two names. */
static char charset(uint8_t final)
{
	return final == '5' ? 'C' : final == '6' ? 'E' : final == '7' ? 'H' : (char) final;
}

/* The slots that have been designated, the one in use, and its charset. */
static void put_charsets(const struct charsets *c)
{
	putchar('-');
	for (unsigned i = 0; i < c->designated; i++)
		putchar(charset(c->g[i]));
	printf(" %u %c", c->level, charset(c->g[c->level]));
}

static void put_code(uint32_t code)
{
	uint8_t bytes[4];
	fwrite(bytes, 1, utf8_encode(code, bytes), stdout);
}

static void put_style(uint32_t number)
{
	static const struct style plain;
	const struct style *s = number ? intern_get(&screen->styles, number, NULL) : &plain;
	if (!s) {
		printf("?");
		return;
	}
	struct screen_image image;
	if (screen_image_of(screen, s, &image)) {
		printf("image %u %u %ux%u", image.row, image.first, image.width, image.height);
		return;
	}
	printf("%x,%x,%x", s->fg, s->bg, s->flags);
	if (s->flags & STYLE_EXTENDED) {
		size_t length = 0;
		const char *link = intern_get(&screen->links, s->link, &length);
		size_t id = link ? (link[0] == 'i' ? strlen(link) : 1 + sizeof(uint64_t)) : 0;
		printf(",%u,%x,", s->link ? UNDERLINE_DASHED : s->underline, s->underline_color);
		if (link)
			printf("%.*s", (int)(length - id - 1), link + id + 1);
	}
}

/* Each cell: text, width unless it is 1, style unless default. Trailing untouched cells are omitted. */
static void put_line(char name, const struct line *line, unsigned cols)
{
	unsigned extent = line_extent(line);
	extent = extent < cols ? extent : cols;
	while (extent > 0 && cell_is_untouched(line->cells[extent - 1]))
		extent--;
	printf("%c%s ", name, line->wrapped ? "+" : "");
	for (unsigned x = 0; x < extent; x++) {
		struct cell cell = line->cells[x];
		if (cell.text & CELL_CLUSTER) {
			size_t length = 0;
			const uint32_t *codes = intern_get(
				&screen->clusters, cell.text & CELL_CODE, &length);
			for (size_t i = 0; i < length / 4; i++)
				put_code(codes[i]);
		} else if (cell.text & CELL_CODE) {
			put_code(cell.text & CELL_CODE);
		}
		if (cell_width(cell) != 1)
			printf("\x01%u", cell_width(cell));
		if (cell.style) {
			printf("\x02");
			put_style(cell.style);
		}
		putchar('\x03');
	}
	putchar('\n');
}

static void put_buffer(char name, const struct buffer *b)
{
	if (b->rows)
		printf("%c cursor %u %u\n", name, b->x < screen->cols ? b->x : screen->cols, b->y);
	printf("%c saved %u %" PRId64 " %x %x %x %d%d ", name, b->saved.x, b->saved.y, b->saved.fg,
		b->saved.bg, b->saved.flags, b->saved.origin, b->saved.wraparound);
	put_charsets(&b->saved.charsets);
	printf("\n%c kitty %u", name, b->kitty.flags);
	for (unsigned i = 0; i < b->kitty.count; i++)
		printf(" %u", b->kitty.saved[i]);
	printf("\n%c margins %u %u tabs", name, b->top, b->bottom);
	for (unsigned x = 0; x < screen->cols; x++)
		if (buffer_has_tab(b, x))
			printf(" %u", x);
	putchar('\n');
	for (unsigned y = 0; b->rows && y < b->count; y++) {
		unsigned i = b->first + y;
		put_line(name, b->rows[i >= b->count ? i - b->count : i], screen->cols);
	}
}

static void put_titles(const struct title_stack *stack)
{
	putchar('[');
	for (unsigned i = 0; i < stack->count; i++) {
		printf(i > 0 ? ",\"" : "\"");
		for (const char *c = stack->items[i]; *c; c++)
			printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
		putchar('"');
	}
	putchar(']');
}

static void dump(void)
{
	const struct screen_modes *m = &screen->modes;
	const struct screen *s = screen;
	printf("size %u %u base %u alternate %d\n", s->rows, s->cols, s->scrollback.count,
		screen_is_alternate(s));
	printf("pen %x,%x,%x,%u,%x\n", s->pen.fg, s->pen.bg, s->pen.flags,
		s->pen.link ? UNDERLINE_DASHED : s->pen.underline, s->pen.underline_color);
	printf("charsets ");
	put_charsets(&s->charsets);
	printf("\nkitty %u\n", m->kitty_flags);
	printf("modes %d%d%d%d%d%d%d%d%d%d%d%d style %u mouse %d %d\n", m->application_cursor,
		m->application_keypad, m->origin, m->wraparound, m->reverse_wraparound, m->insert,
		m->newline, m->cursor_hidden, m->bracketed_paste, m->focus, m->synchronized_output,
		m->graphemes, m->cursor_style, (int)m->mouse, (int)m->mouse_encoding);
	printf("title %s\nicon %s\ntitles ", screen_title(s), screen_icon(s));
	put_titles(&s->titles);
	putchar(' ');
	put_titles(&s->icons);
	printf("\ncolors");
	for (unsigned i = 0; i < PALETTE_SIZE && s->palette.indexed; i++)
		if (s->palette.indexed[i])
			printf(" %u=%06x", i, s->palette.indexed[i] & 0xffffff);
	for (unsigned i = 0; i < 3; i++)
		if (s->palette.dynamic[i])
			printf(" %u=%06x", PALETTE_SIZE + i, s->palette.dynamic[i] & 0xffffff);
	putchar('\n');
	for (unsigned i = 0; i < s->scrollback.count; i++) {
		struct packed *p = scrollback_get(&s->scrollback, i);
		struct line *line = packed_unpack(p, s->cols);
		put_line('P', line, s->cols);
		free(line);
	}
	put_buffer('P', &s->primary);
	put_buffer('A', &s->alternate);
	printf(".\n");
}

static void snapshot(int (*take)(struct screen *s, unsigned lines, struct snapshot *ret_snapshot),
	unsigned lines)
{
	struct snapshot snapshot;
	if (take(screen, lines, &snapshot) < 0) {
		printf("failed\n");
		return;
	}
	put_hex(snapshot.bytes, snapshot.length);
	free(snapshot.bytes);
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;
	unsigned a, b, c;
	while (getline(&line, &size, stdin) > 0) {
		if (sscanf(line, "new %u %u %u", &a, &b, &c) == 3) {
			create(line, a, b, c);
		} else if (strncmp(line, "feed ", 5) == 0) {
			feed(line + 5, from_hex(line + 5));
			scrollback_freeze(&screen->scrollback, 2, 500, UINT_MAX);
		} else if (strncmp(line, "grounds ", 8) == 0) {
			put_grounds(line + 8, from_hex(line + 8));
		} else if (strncmp(line, "resume", 6) == 0) {
			printf("%" PRIu64 "\n", screen_resume_offset(screen));
		} else if (strncmp(line, "widths", 6) == 0) {
			put_widths();
		} else if (strncmp(line, "wcwidths", 8) == 0) {
			put_wcwidths();
		} else if (strncmp(line, "graphemes", 9) == 0) {
			put_graphemes();
		} else if (sscanf(line, "size %u %u", &a, &b) == 2) {
			if (screen_resize(screen, a, b) < 0)
				return 1;
		} else if (strncmp(line, "dump", 4) == 0) {
			dump();
		} else if (sscanf(line, "snapshot %u", &a) == 1) {
			snapshot(screen_snapshot, a);
		} else if (sscanf(line, "marked %u", &a) == 1) {
			snapshot(screen_marked_snapshot, a);
		} else if (strncmp(line, "replies", 7) == 0) {
			put_hex(replies, replies_length);
			replies_length = 0;
		} else if (strncmp(line, "events", 6) == 0) {
			printf("%u\n", events);
			events = 0;
		}
		fflush(stdout);
	}
	screen_destroy(screen);
	free(replies);
	free(line);
	return 0;
}
