/* The sequences that the rules apply to; the table is at the end. */
#include "rules.h"

#include "compare.h"
#include "survive.h"

#include "ring/screen/grid/charset.h"
#include "ring/screen/grid/width.h"

#include <string.h>

static bool is_csi(const struct piece *t, const char *finals)
{
	return t->kind == PIECE_CSI && t->id < 0x80 && strchr(finals, (int)t->id);
}

static bool is_escape(const struct piece *t, uint32_t id)
{
	return t->kind == PIECE_ESCAPE && t->id == id;
}

static bool is_control(const struct piece *t, const char *codes)
{
	return t->kind == PIECE_CONTROL && t->code < 0x80 && strchr(codes, (int)t->code);
}

static bool is_printed(const struct piece *t)
{
	return t->kind == PIECE_TEXT || t->kind == PIECE_CHARACTER;
}

static bool is_private_mode(const struct piece *t)
{
	return t->kind == PIECE_CSI && (t->id == SEQUENCE('?', 'h') || t->id == SEQUENCE('?', 'l'));
}

static bool has_mode(const struct piece *t, int mode)
{
	for (unsigned i = 0; is_private_mode(t) && i < t->params.count; i++)
		if (t->params.value[i] == mode)
			return true;
	return false;
}

static bool is_pending(const struct screen *s)
{
	return s->active->x >= s->cols;
}

static bool is_outside_region(const struct screen *s)
{
	return s->active->y < s->active->top || s->active->y > s->active->bottom;
}

static void nothing(struct second *v, const struct screen *s, const struct piece *t)
{
	(void)v;
	(void)s;
	(void)t;
}

/* Strings, broken sequences */

static bool is_string(const struct screen *s, const struct piece *t)
{
	(void)s;
	return t->kind == PIECE_STRING;
}

static bool is_mixed(const struct screen *s, const struct piece *t)
{
	(void)s;
	return t->kind == PIECE_MIXED || t->kind == PIECE_NOTHING;
}

static bool is_c1(const struct screen *s, const struct piece *t)
{
	(void)s;
	return (t->kind == PIECE_CONTROL && t->code >= 0x80) ||
		(t->kind == PIECE_CSI && t->bytes[0] == 0xc2);
}

static void put_as_escape(struct second *v, const struct screen *s, const struct piece *t)
{
	if (t->kind == PIECE_CSI)
		survive_put_less(v, s, t);
	else if (t->code != 0x8e && t->code != 0x8f)
		second_print(v, "\033%c", (char)(t->code - 0x40));
}

/* Characters */

static bool is_soft_hyphen(const struct screen *s, const struct piece *t)
{
	(void)s;
	return t->kind == PIECE_CHARACTER && t->code == 0xad;
}

static bool is_counted_otherwise(const struct screen *s, const struct piece *t)
{
	(void)s;
	return t->kind == PIECE_CHARACTER && compare_stand_in(t->code) != t->code;
}

static void put_stand_in(struct second *v, const struct screen *s, const struct piece *t)
{
	(void)s;
	uint32_t code = compare_stand_in(t->code);
	second_put(v, &code, 1);
}

static bool is_mark(const struct screen *s, const struct piece *t)
{
	(void)s;
	return t->kind == PIECE_CHARACTER && width_of(t->code) == 0;
}

static bool row_is_wide(const struct screen *s, unsigned y)
{
	const struct line *line = screen_line(s, y < s->rows ? y : s->rows - 1);
	for (unsigned x = 0; x < line->length && x < s->cols; x++)
		if (cell_width(line->cells[x]) != 1)
			return true;
	return false;
}

static bool touches_wide(const struct screen *s, const struct piece *t)
{
	unsigned y = s->active->y;
	if (is_csi(t, "@PXJK") || t->id == SEQUENCE('?', 'J') || t->id == SEQUENCE('?', 'K') ||
		is_printed(t))
		return row_is_wide(s, y) || row_is_wide(s, y + 1);
	for (y = 0; (t->id == SEQUENCE('\'', '}') || t->id == SEQUENCE('\'', '~')) && y < s->rows;
		y++)
		if (row_is_wide(s, y))
			return true;
	return false;
}

/* Charsets: the second terminal gets the mapped characters instead of charsets. */

static bool selects_charset(const struct screen *s, const struct piece *t)
{
	(void)s;
	if (t->kind == PIECE_CONTROL)
		return t->code == 0x0e || t->code == 0x0f;
	if (t->kind != PIECE_ESCAPE)
		return false;
	if (t->id < 0x80)
		return strchr("no|}~NO", (int)t->id);
	return strchr("()*+-./%", (int)(t->id >> 8 & 0xff));
}

static bool is_in_charset(const struct screen *s, const struct piece *t)
{
	return t->kind == PIECE_TEXT && screen_charset(s) != 'B';
}

static void put_mapped(struct second *v, const struct screen *s, const struct piece *t)
{
	for (size_t i = 0; i < t->length; i++) {
		uint32_t code = compare_stand_in(charset_map(screen_charset(s), t->bytes[i]));
		second_put(v, &code, 1);
	}
}

/* The edge */

static bool is_at_edge(const struct screen *s, const struct piece *t)
{
	if (!is_pending(s))
		return false;
	if (is_printed(t))
		return !s->modes.wraparound;
	const struct line *line = screen_line(s, s->active->y);
	bool wide = line->length >= s->cols && cell_is_tail(line->cells[s->cols - 1]);
	if (!wide && (is_control(t, "\r\t") || is_csi(t, "mABCDGHad`ef")))
		return false;
	return t->kind == PIECE_CONTROL || t->kind == PIECE_CSI || t->kind == PIECE_ESCAPE;
}

static bool has_no_space(const struct screen *s, const struct piece *t)
{
	return t->kind == PIECE_CHARACTER && s->active->x < s->cols &&
		s->active->x + width_of(t->code) > s->cols;
}

static bool inserts_wide(const struct screen *s, const struct piece *t)
{
	return t->kind == PIECE_CHARACTER && s->modes.insert && width_of(t->code) == 2;
}

static bool erases_selectively(const struct screen *s, const struct piece *t)
{
	(void)s;
	return t->kind == PIECE_CSI && (t->id == SEQUENCE('?', 'J') || t->id == SEQUENCE('?', 'K'));
}

static bool wraps_back(const struct screen *s, const struct piece *t)
{
	return is_control(t, "\b") && s->modes.reverse_wraparound;
}

/* The region */

static bool is_stopped(const struct screen *s, const struct piece *t)
{
	const struct buffer *b = s->active;
	return is_csi(t, "ABEF") && (b->top > 0 || b->bottom + 1 < s->rows);
}

static bool moves_in_row(const struct screen *s, const struct piece *t)
{
	return is_csi(t, "CDGae`") && s->modes.origin && s->active->top > 0;
}

static bool is_no_region(const struct screen *s, const struct piece *t)
{
	unsigned top = screen_param_or_one(&t->params, 0), bottom = s->rows;
	if (t->params.count > 1 && t->params.value[1] > 0 && (unsigned)t->params.value[1] < s->rows)
		bottom = (unsigned)t->params.value[1];
	return is_csi(t, "r") && bottom <= top;
}

static bool shifts_lines(const struct screen *s, const struct piece *t)
{
	return is_csi(t, "LM") && !is_outside_region(s);
}

static void put_and_return(struct second *v, const struct screen *s, const struct piece *t)
{
	(void)s;
	second_feed(v, t->bytes, t->length);
	second_print(v, "\r");
}

static bool scrolls_down(const struct screen *s, const struct piece *t)
{
	(void)s;
	return is_csi(t, "^");
}

static void put_scroll_down(struct second *v, const struct screen *s, const struct piece *t)
{
	(void)s;
	second_print(v, "\033[%uT", screen_param_or_one(&t->params, 0));
}

/* Whether a row has cells beyond the right edge, which a narrower screen keeps in its alternate buffer. */
static bool has_more(const struct screen *s, unsigned y)
{
	const struct line *line = screen_line(s, y);
	for (unsigned x = s->cols; x < line->length; x++)
		if (cell_has_content(line->cells[x]))
			return true;
	return false;
}

static bool brings_more(const struct screen *s, const struct piece *t)
{
	if (is_csi(t, "P"))
		return has_more(s, s->active->y);
	for (unsigned y = 0; t->kind == PIECE_CSI && t->id == SEQUENCE('\'', '~') && y < s->rows;
		y++)
		if (has_more(s, y))
			return true;
	return false;
}

static bool edits_outside(const struct screen *s, const struct piece *t)
{
	return is_csi(t, "@P") && is_outside_region(s);
}

static bool shifts_columns(const struct screen *s, const struct piece *t)
{
	(void)s;
	return t->kind == PIECE_CSI && (t->id == SEQUENCE(' ', '@') || t->id == SEQUENCE(' ', 'A'));
}

/* Saved cursors, buffers, resets */

static bool saves(const struct screen *s, const struct piece *t)
{
	(void)s;
	return is_csi(t, "s") || is_escape(t, '7');
}

static void put_save(struct second *v, const struct screen *s, const struct piece *t)
{
	(void)s;
	(void)t;
	second_print(v, "\0337");
}

static bool restores(const struct screen *s, const struct piece *t)
{
	(void)s;
	return is_csi(t, "u") || is_escape(t, '8');
}

static bool restores_modes(const struct screen *s, const struct piece *t)
{
	const struct saved_cursor *saved = &s->active->saved;
	return restores(s, t) &&
		(saved->origin != s->modes.origin || saved->wraparound != s->modes.wraparound);
}

static void put_restore(struct second *v, const struct screen *s, const struct piece *t)
{
	(void)s;
	(void)t;
	second_print(v, "\0338\033[0n"); /* after the next sequence it updates the cursor */
}

static bool is_switch(const struct piece *t)
{
	return has_mode(t, 47) || has_mode(t, 1047) || has_mode(t, 1048) || has_mode(t, 1049);
}

static bool opens_alternate(const struct screen *s, const struct piece *t)
{
	return is_switch(t) && (t->id & 0xff) == 'h' && !screen_is_alternate(s);
}

static bool leaves_alternate(const struct screen *s, const struct piece *t)
{
	return is_switch(t) && !opens_alternate(s, t);
}

static bool is_several(const struct screen *s, const struct piece *t)
{
	(void)s;
	return (is_private_mode(t) || is_csi(t, "hl")) && t->params.count > 1;
}

static void put_each_mode(struct second *v, const struct screen *s, const struct piece *t)
{
	(void)s;
	for (unsigned i = 0; i < t->params.count; i++) {
		int mode = t->params.value[i];
		if (mode != 69)
			second_print(v, "\033[%s%d%c", is_private_mode(t) ? "?" : "",
				mode == 47 ? 1047 : mode, (char)(t->id & 0xff));
	}
	second_print(v, "\033[0n");
}

static bool is_unknown_here(const struct screen *s, const struct piece *t)
{
	(void)s;
	if (t->kind == PIECE_ESCAPE)
		return t->id >> 8 == '#' ? t->id != SEQUENCE('#', '8') : t->id >> 8 == ' ';
	return is_csi(t, "jk") || has_mode(t, 69) || (is_csi(t, "g") && t->params.value[0] == 5);
}

static bool is_soft_reset(const struct screen *s, const struct piece *t)
{
	(void)s;
	return t->kind == PIECE_CSI && t->id == SEQUENCE('!', 'p');
}

static bool is_reset(const struct screen *s, const struct piece *t)
{
	(void)s;
	return is_escape(t, 'c');
}

static void put_reset(struct second *v, const struct screen *s, const struct piece *t)
{
	(void)t;
	second_print(v, "\033[?1047l\033[?69l\033c\0337%s", s->modes.newline ? "\033[20h" : "");
}

static bool is_alignment(const struct screen *s, const struct piece *t)
{
	(void)s;
	return is_escape(t, SEQUENCE('#', '8'));
}

#define CSI_FUNCTIONS "Functions using CSI, ordered by the final character(s)"
#define ESC_FUNCTIONS "Controls beginning with ESC"
#define OLD_FUNCTIONS "VT100 Mode, Single-character functions"

const struct rule rules[] = {
	{"strings",
		"Device-Control functions; Operating System Commands; Application Program-Command functions",
		"A string draws nothing. libvterm prints APC, PM and SOS, and output after a string that comes in two pieces.",
		is_string, nothing, RULE_FOLLOWS, "a\033_bcd\033\\e"},
	{"broken", "-",
		"The effect of controls within a sequence and of invalid UTF-8 (none, in xterm.js) is not specified.",
		is_mixed, nothing, RULE_TAKES_OURS, "ab\033[2\nCx\xff\xffy"},
	{"c1", "C1 (8-Bit) Control Characters",
		"A UTF-8 terminal gets them in UTF-8. libvterm then prints them.", is_c1,
		put_as_escape, RULE_MAY_DIFFER,
		"ab\xc2\x85"
		"c"},
	{"repeat", CSI_FUNCTIONS ": REP",
		"The character is repeated with wraps. libvterm stops at the edge, or never.",
		survive_is_repetition, survive_put_repeated, RULE_MAY_DIFFER, "\033[18Gx\033[9b"},
	{"several-modes", CSI_FUNCTIONS ": SM, RM, DECSET, DECRST",
		"All modes are set. libvterm sets the first.", is_several, put_each_mode,
		RULE_STARTS_AFRESH, "\033[2;4r\033[?7;6hx"},
	{"alternate", "The Alternate Screen Buffer",
		"47 is older than 1047. xterm.js keeps cursor, margins and tab stops for each buffer, libvterm for both.",
		opens_alternate, put_each_mode, RULE_STARTS_AFRESH, "ab\033[?47hc"},
	{"primary", "The Alternate Screen Buffer",
		"The primary buffer may have been painted anew before. Opened again, libvterm erases the alternate buffer.",
		leaves_alternate, put_each_mode, RULE_TAKES_OURS, "\033[?1047hab\033[?1047h"},
	{"unknown", CSI_FUNCTIONS "; " ESC_FUNCTIONS,
		"xterm.js lacks left and right margins, double-size lines, HPB, VPB, TBC 5 and S8C1T.",
		is_unknown_here, nothing, RULE_FOLLOWS, "abc\033[2jd"},
	{"much", CSI_FUNCTIONS,
		"libvterm has 16 parameters, adds them to int, and treats sub-parameters as parameters.",
		survive_is_much, survive_put_less, RULE_MAY_DIFFER, "\033[3:7Hx"},
	{"soft-reset", CSI_FUNCTIONS ": DECSTR", "libvterm lacks it.", is_soft_reset, nothing,
		RULE_TAKES_OURS, "\033[4h\033[!pab\033[Hx"},
	{"reset", ESC_FUNCTIONS ": RIS",
		"It leaves the alternate buffer; libvterm does not. xterm.js keeps LNM.", is_reset,
		put_reset, RULE_MAY_DIFFER, "\033[20h\033cab\ncd"},
	{"shift-columns", CSI_FUNCTIONS ": SL, SR", "libvterm lacks them.", shifts_columns, nothing,
		RULE_TAKES_OURS, "abc\033[ @"},
	{"charset", ESC_FUNCTIONS ": SCS; " OLD_FUNCTIONS ": SO, SI",
		"libvterm has only UK and line drawing, does not save charsets, and applies LS1R to LS3R to the right half.",
		selects_charset, nothing, RULE_FOLLOWS, "\033(B\0337\033(0\0338a"},
	{"in-charset", ESC_FUNCTIONS ": SCS", "libvterm gets the mapped characters.", is_in_charset,
		put_mapped, RULE_MAY_DIFFER, "\033(K[\\]"},
	{"soft-hyphen", "-", "It has no cell. libvterm prints it.", is_soft_hyphen, nothing,
		RULE_FOLLOWS,
		"a\xc2\xad"
		"b"},
	{"width", "-",
		"Widths are those of Unicode 16. libvterm has older tables and gets a replacement of the same width.",
		is_counted_otherwise, put_stand_in, RULE_MAY_DIFFER,
		"a\xf0\x9f\xa6\xbe"
		"b"},
	{"marks", "-",
		"A mark joins the character printed just before, otherwise it is alone. In libvterm it joins the cell before it.",
		is_mark, NULL, RULE_MAY_DIFFER,
		"a\r\033[C\xcc\x81"
		"b"},
	{"halves", "-",
		"Overwriting a half of a wide character blanks the other half. libvterm keeps it.",
		touches_wide, NULL, RULE_MAY_DIFFER, "\xe4\xb8\x96\bx"},
	{"edge", CSI_FUNCTIONS ": DECSET 7",
		"After the last column there is nothing to erase, a line feed clears the pending wrap, and DECSC saves the column.",
		is_at_edge, NULL, RULE_MAY_DIFFER, "01234567890123456789\033[K"},
	{"no-space", CSI_FUNCTIONS ": DECSET 7",
		"Without wrapping, a character that does not fit the last column is lost and blanks it. libvterm wraps it and keeps the column.",
		has_no_space, NULL, RULE_MAY_DIFFER, "\033[?7l\033[20G\xe4\xb8\x96"},
	{"insert-wide", CSI_FUNCTIONS ": SM 4",
		"A wide character inserts two columns. In libvterm one.", inserts_wide, NULL,
		RULE_MAY_DIFFER, "abc\r\033[4h\xe4\xb8\x96"},
	{"selective", CSI_FUNCTIONS ": DECSCA, DECSED, DECSEL",
		"In xterm.js SGR 0 ends the protection, and DECRC restores it.", erases_selectively,
		NULL, RULE_MAY_DIFFER, "\033[1\"q\033[mab\033[?2J"},
	{"reverse-wrap", CSI_FUNCTIONS ": DECSET 45", "libvterm lacks it.", wraps_back, NULL,
		RULE_MAY_DIFFER, "\033[?45h0123456789012345678901\b\b\b\bx"},
	{"margins", CSI_FUNCTIONS ": CUU, CUD, CNL, CPL",
		"They stop at the margins of the region. In libvterm at those of the screen.",
		is_stopped, NULL, RULE_FOLLOWS, "\033[2;4r\033[3;1H\033[9Bx"},
	{"origin-column", CSI_FUNCTIONS ": CHA, HPA, CUF, CUB, HPR, VPR",
		"In origin mode xterm.js moves the row as well; xterm and libvterm do not.",
		moves_in_row, NULL, RULE_FOLLOWS, "\033[3;5r\033[?6h\033[4Gx"},
	{"no-region", CSI_FUNCTIONS ": DECSTBM",
		"An invalid region is ignored. In libvterm it is the whole screen.", is_no_region,
		nothing, RULE_FOLLOWS, "\033[2;4r\033[5;5H\033[4;2rx"},
	{"shift-lines", CSI_FUNCTIONS ": IL, DL",
		"The cursor moves to the first column. In libvterm it keeps its column.",
		shifts_lines, put_and_return, RULE_FOLLOWS, "abc\033[Ld"},
	{"beyond-edge", CSI_FUNCTIONS ": DCH, DECDC",
		"Cells that a resize left beyond the right edge of the alternate buffer return. libvterm has dropped them.",
		brings_more, NULL, RULE_MAY_DIFFER, "\033[?1047h01234567890123456789\r\x1c\033[P"},
	{"edit-outside", CSI_FUNCTIONS ": ICH, DCH",
		"They act beyond the region as well. In libvterm they do not.", edits_outside, NULL,
		RULE_MAY_DIFFER, "\033[2;4r\033[6;1Habc\033[6;1H\033[P"},
	{"scroll-down", CSI_FUNCTIONS ": SD", "ECMA-48 has it as CSI ^, which libvterm lacks.",
		scrolls_down, put_scroll_down, RULE_FOLLOWS, "a\r\nb\033[^c"},
	{"save", CSI_FUNCTIONS ": SCOSC",
		"Without DECLRMM it is DECSC. libvterm treats it as DECSLRM.", saves, put_save,
		RULE_FOLLOWS, "abc\033[2;5sx\033[uy"},
	{"restore-modes", CSI_FUNCTIONS ": SCORC; " ESC_FUNCTIONS ": DECRC",
		"It restores origin mode and autowrap. In libvterm it does not.", restores_modes,
		nothing, RULE_TAKES_OURS, "\033[?7l\033801234567890123456789x"},
	{"restore", CSI_FUNCTIONS ": SCORC; " ESC_FUNCTIONS ": DECRC",
		"Both are the same; libvterm has only DECRC. xterm.js keeps the cursor within the origin's region.",
		restores, put_restore, RULE_FOLLOWS, "ab\0337\r\nc\033[ud"},
	{"alignment", ESC_FUNCTIONS ": DECALN",
		"The cursor moves home. In libvterm it stays; in origin mode xterm.js begins at the region.",
		is_alignment, NULL, RULE_MAY_DIFFER, "ab\033#8x"},
};

const unsigned rules_count = sizeof rules / sizeof *rules;
