/* Shared by the files of the screen. Rows and columns count from 0. */
#pragma once

#include "ring/screen/grid/intern.h"
#include "ring/screen/grid/line.h"
#include "ring/screen/markers.h"
#include "ring/screen/parser.h"
#include "ring/screen/screen.h"
#include "ring/screen/grid/scrollback.h"
#include "ring/screen/grid/style.h"

#define SCREEN_TAB_WORDS (SCREEN_SIDE_MAX / 64 + 1) /* a stop may be one column right of the last */
#define SCREEN_STYLES_MAX (UINT32_C(1) << 18)
#define SCREEN_CLUSTERS_MAX (UINT32_C(1) << 17)
#define SCREEN_LINKS_MAX (UINT32_C(1) << 16)
#define SCREEN_INTERN_BYTES ((size_t)16 << 20) /* limit of each of the three */
#define PALETTE_SIZE 256u

/* Charset state. Charsets are identified by their final byte; 'B' is ASCII. */
struct charsets {
	uint8_t g[4];
	uint8_t level;      /* which of g is in use */
	uint8_t designated; /* slots of g up to the last one that was designated since a reset */
};

/* State saved by DECSC. y counts from the oldest line of the scrollback, as in xterm.js. */
struct saved_cursor {
	unsigned x;
	int64_t y;
	uint32_t fg, bg;
	uint16_t flags;
	bool origin, wraparound;
	struct charsets charsets; /* DECRC restores only the slots that had been designated */
};

/* Stack of kitty keyboard flags. */
struct kitty_stack {
	uint8_t flags; /* what a switch to this buffer makes the current flags */
	uint8_t count;
	uint8_t saved[SCREEN_KITTY_MAX];
};

/* One of the two buffers. */
struct buffer {
	struct line **rows;   /* circular; NULL while the alternate buffer is not in use */
	unsigned first;       /* index of row 0 */
	unsigned count;       /* allocated rows */
	unsigned x, y;        /* cursor; x is `cols` while a wrap is pending */
	unsigned top, bottom; /* scroll region, inclusive */
	uint64_t tabs[SCREEN_TAB_WORDS];
	struct saved_cursor saved;
	struct kitty_stack kitty;
	uint64_t moved; /* version in which rows last moved */
};

/* Slot of row y. */
static inline struct line **buffer_slot(const struct buffer *b, unsigned y)
{
	unsigned i = b->first + y;
	return &b->rows[i >= b->count ? i - b->count : i];
}

static inline struct line *buffer_row(const struct buffer *b, unsigned y)
{
	return *buffer_slot(b, y);
}

/* Titles saved by XTWINOPS 22, newest last. */
struct title_stack {
	char *items[SCREEN_TITLES_MAX];
	unsigned count;
};

/* Colours that the program has set, 0xRRGGBB with the top byte set, and those of the theme. */
struct palette {
	struct theme theme;
	uint32_t *indexed;   /* PALETTE_SIZE entries, or NULL if none is set */
	uint32_t dynamic[3]; /* foreground, background, cursor: OSC 10 to 12 */
};

/* Entries of the cache of recent styles, which avoids interning alternating colours again. */
#define SCREEN_RECENT 64u

/* An entry of that cache. */
struct recent_style {
	struct style style;
	uint32_t number; /* 0: unused */
};

/* The screen. */
struct screen {
	struct parser parser;
	const struct screen_callbacks *callbacks;
	void *user;
	bool muted;
	bool private_sequences; /* accept OSC 7007, while a checkpoint is restored */
	uint64_t line_offset;   /* last line offset in the checkpoint */
	unsigned rows, cols;
	struct buffer primary, alternate;
	struct buffer *active;
	struct line **pool; /* unused lines of `cols` cells, at most `rows` */
	unsigned pooled;
	struct scrollback scrollback;
	struct markers markers;
	const char *mark_secret; /* borrowed; keep only marks that contain it; NULL: all */
	struct intern styles, clusters, links;
	struct recent_style recent[SCREEN_RECENT];
	struct style pen;
	uint32_t pen_style;   /* number of the pen's style; invalid while pen_changed */
	uint32_t erase_style; /* the same with the background alone */
	bool pen_changed;
	uint32_t held_link;      /* of a pen that is to be restored; 0: none */
	struct style prompt_pen; /* pen at the end of the last prompt */
	struct charsets charsets;
	struct screen_modes modes;
	unsigned join;     /* width of the character that a mark would join; 0: none */
	uint8_t join_kind; /* with clusters: kind of its last character, see struct grapheme */
	enum screen_unicode unicode; /* mode after a reset */
	bool had_graphemes;          /* mode 2027 has changed, so some cells may be clusters */
	bool in_run;                 /* the last input was printable */
	char *title, *icon, *cwd;    /* owned; NULL: never set */
	struct title_stack titles, icons;
	struct palette palette;
	struct progress progress;
	uint64_t next_link; /* id of the next link without an id */
	uint64_t version;
	size_t work, work_max; /* cells touched in this feed */
	bool pause;            /* stop the parser: enough work done, or bulk may begin */
	uint64_t bulk_at;      /* no bulk begins before this offset */
	unsigned missing;      /* rows at the top that are in the scrollback already, see bulk.c */
	bool defer_sweeps;     /* defer sweeps: a row being packed uses styles */
};

/* Slot of row y of the active buffer. */
static inline struct line **screen_slot(const struct screen *s, unsigned y)
{
	return buffer_slot(s->active, y);
}

/* Row y of the active buffer. It may be shared with other rows until it is touched. */
static inline const struct line *screen_line(const struct screen *s, unsigned y)
{
	return *screen_slot(s, y);
}

/*
 * Give a row a line of its own before it is changed. Never fails: without memory it returns a dummy
 * line. In buffer.c.
 */
struct line *screen_unshare(struct screen *s, struct line **slot);

/* Row y of the active buffer, for writing. */
static inline struct line *screen_touch(struct screen *s, unsigned y)
{
	struct line **slot = screen_slot(s, y), *line = *slot;
	if (line->shares > 0)
		line = screen_unshare(s, slot);
	line->version = s->version;
	return line;
}

/* Count touched cells as work. */
static inline void screen_add_work(struct screen *s, size_t cells)
{
	s->work += cells;
	if (s->work >= s->work_max)
		s->pause = true;
}

/* Update pen_style and erase_style after the pen has changed. In screen.c. */
void screen_find_pen(struct screen *s);

/* Number of the pen's style. */
static inline uint32_t screen_pen_style(struct screen *s)
{
	if (s->pen_changed)
		screen_find_pen(s);
	return s->pen_style;
}

/* The charset in use. */
static inline uint8_t screen_charset(const struct screen *s)
{
	return s->charsets.g[s->charsets.level];
}

/* An empty cell in the pen's style. */
static inline struct cell screen_pen_blank(struct screen *s)
{
	return (struct cell){.style = screen_pen_style(s)};
}

/* An erased cell: it has the pen's background. */
static inline struct cell screen_blank(struct screen *s)
{
	screen_pen_style(s);
	return (struct cell){.style = s->erase_style};
}

/* The i-th parameter of a sequence; 0 if missing. */
static inline int screen_param(const struct params *a, unsigned i)
{
	return i < a->count ? a->value[i] : 0;
}

/* The i-th parameter, where missing and 0 mean 1. */
static inline unsigned screen_param_or_one(const struct params *a, unsigned i)
{
	int n = screen_param(a, i);
	return n > 0 ? (unsigned)n : 1;
}

/* screen.c */

/* Intern a style. Returns its number. */
uint32_t screen_style(struct screen *s, const struct style *style);

/* Drop the oldest n lines of the scrollback. */
void screen_drop_lines(struct screen *s, unsigned n);

/* Free unused styles, clusters and links. */
void screen_collect(struct screen *s);

/* Call screen_collect() if table t is due and sweeps are not deferred. */
void screen_sweep(struct screen *s, const struct intern *t);

/* Set how often sweeps run, depending on the size. */
void screen_plan_sweeps(struct screen *s);

/* RIS. */
void screen_reset(struct screen *s);

/* Replace an owned string, cut to max bytes. Without memory it stays as it is. */
void screen_set_text(char **where, const char *text, size_t length, size_t max);

/* Send a reply, unless muted. */
void screen_reply(struct screen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Report an event, unless muted. Fills in its offset, line and column. */
void screen_emit(struct screen *s, struct screen_event event);

/* Intern the code points of a cell. Returns the cluster's number, or 0. */
uint32_t screen_put_cluster(struct screen *s, const uint32_t *codes, size_t count);

/* buffer.c */

/* Allocate blank rows. */
bool buffer_fill(struct buffer *b, unsigned rows, unsigned cols);

/* The same, with one line shared by all rows: most screens stay nearly empty. */
bool buffer_fill_shared(struct buffer *b, unsigned rows, unsigned cols);

/* Free the rows and reset cursor, region and tab stops. */
void buffer_empty(struct buffer *b, unsigned rows, unsigned cols);

/* Whether a column has a tab stop. */
bool buffer_has_tab(const struct buffer *b, unsigned col);

/* Set or clear a tab stop. */
void buffer_set_tab(struct buffer *b, unsigned col, bool on);

/* The next tab stop after col, or the last column. */
unsigned buffer_next_tab(const struct buffer *b, unsigned col, unsigned cols);

/* The previous tab stop before col, or column 0. */
unsigned buffer_previous_tab(const struct buffer *b, unsigned col, unsigned cols);

/* Extend the tab stops after a resize. */
void buffer_tabs_resized(struct buffer *b, unsigned cols);

/* Scroll the region up by one line. wrapped: the new line continues the one above. */
void screen_scroll(struct screen *s, bool wrapped);

/* Scroll the region up by n lines; all new rows are `line`. */
void screen_scroll_in(struct screen *s, uint64_t n, struct line *line);

/* A blank unshared line; NULL if memory is short. */
struct line *screen_make_line(struct screen *s);

/* Set rows [first, end) to `line`. The caller keeps its own reference. */
void screen_set_rows(struct screen *s, unsigned first, unsigned end, struct line *line);

/* The end of the rows from first on that share a line, at most `end`. */
unsigned screen_same_rows(const struct screen *s, unsigned first, unsigned end);

/* Set rows (y, end) to `line`, the line of row y. */
void screen_spread_row(struct screen *s, unsigned y, unsigned end, struct line *line);

/* Fill rows [first, end) with a cell. */
void screen_fill_rows(struct screen *s, unsigned first, unsigned end, struct cell cell);

/* Replace the pool of unused lines by an empty one. Returns false if memory is short. */
bool screen_make_pool(struct screen *s, unsigned rows);

/* Free the pool. */
void screen_free_pool(struct screen *s);

/* Move rows [top, bottom] up by n, or down if n is negative; blank rows come in. */
void screen_shift(struct screen *s, unsigned top, unsigned bottom, int n, struct cell blank);

/* Switch to the alternate buffer. */
void screen_use_alternate(struct screen *s);

/* Switch to the primary buffer. */
void screen_use_primary(struct screen *s);

/* Absolute row of row 0 of the active buffer. */
int64_t screen_base(const struct screen *s);

/* Push rows [0, count) into the scrollback. */
void screen_push_rows(struct screen *s, unsigned count);

/* Blank the bottom row of the region. */
void screen_renew_bottom(struct screen *s);

/* bulk.c */

/* Whether bulk text may begin at the parser's offset. */
bool screen_bulk_can_begin(const struct screen *s);

/* Process whole lines of bulk text, if it is worth it. Returns the bytes consumed, perhaps 0. */
size_t screen_bulk(struct screen *s, const uint8_t *bytes, size_t length);

/* Callbacks of the parser: print.c, control.c, csi.c, osc.c, reply.c. See ring/screen/parser.h. */
void screen_print_ascii(void *user, const uint8_t *ascii, size_t length);
void screen_print(void *user, uint32_t code);
void screen_control(void *user, uint8_t code);
void screen_escape(void *user, uint32_t id);
void screen_csi(void *user, uint32_t id, const struct params *a);
void screen_osc(void *user, uint32_t number, const char *data, size_t length);
void screen_dcs(void *user, uint32_t id, const struct params *a, const char *data, size_t length);

/* REP: print the last character n times more. In print.c. */
void screen_repeat(struct screen *s, unsigned n);

/* control.c */

/* Clamp the cursor to max_x and, in origin mode, to the region. */
void screen_clamp_cursor(struct screen *s, unsigned max_x);

/* Move the cursor, clamped; relative to the region in origin mode. */
void screen_set_cursor(struct screen *s, int64_t x, int64_t y);

/* DECSC. */
void screen_save_cursor(struct screen *s);

/* DECRC. */
void screen_restore_cursor(struct screen *s);

/* Control sequences */

/* SGR. In sgr.c. */
void screen_sgr(struct screen *s, const struct params *a);

/* SM and RM. In modes.c. */
void screen_set_modes(struct screen *s, const struct params *a, bool on);

/* DECSET and DECRST. In modes.c. */
void screen_set_private_modes(struct screen *s, const struct params *a, bool on);

/* DECSTR. In modes.c. */
void screen_soft_reset(struct screen *s);

/* Set, push or pop kitty keyboard flags: CSI = u, CSI > u, CSI < u. In modes.c. */
void screen_kitty(struct screen *s, uint32_t id, const struct params *a);

/* The initial charsets. In screen.c. */
extern const struct charsets screen_charsets;

/* image.c */

/* A row of an image, as far as one style says it. */
struct screen_image {
	uint64_t offset, length; /* the bytes of its sequence in the output */
	unsigned width, height;  /* pixels, of CELL_WIDTH and CELL_HEIGHT */
	unsigned row;            /* of the image, in cells */
	unsigned first;          /* the column that the image's first cell was printed in */
};

/* Draw sixel graphics at the cursor; data: behind DCS q. */
void screen_draw_sixel(struct screen *s, const char *data, size_t length);

/* Draw a file of iTerm2 at the cursor; data: behind OSC 1337 ; */
void screen_draw_file(struct screen *s, const char *data, size_t length);

/* The image that a style is part of. Returns false if it is part of none. */
bool screen_image_of(
	const struct screen *s, const struct style *style, struct screen_image *ret_image);

/*
 * Print cells of an image, for a checkpoint. data: the numbers of struct screen_image and the number of cells, separated by
 * commas.
 */
void screen_restore_image(struct screen *s, const char *data);

/* What DECRC restores if nothing has been saved. In screen.c. */
extern const struct saved_cursor screen_unsaved;

/* Erasing, inserting, deleting. Returns false if it is another sequence. In edit.c. */
bool screen_edit(struct screen *s, uint32_t id, const struct params *a);

/* XTWINOPS 22 and 23: save and restore titles. In osc.c. */
void screen_window_op(struct screen *s, const struct params *a);

/* Answer a query. Returns false if the sequence is not one. In reply.c. */
bool screen_query(struct screen *s, uint32_t id, const struct params *a);

/* palette.c */

/* Parse a colour: rgb:r/g/b or #rgb. Returns false if it is malformed. */
bool palette_parse(const char *spec, size_t length, uint32_t *ret_rgb);

/* Set an indexed colour. Returns false if memory is short. */
bool palette_set(struct palette *p, unsigned index, uint32_t rgb);

/* Reset an indexed colour to its default. index -1: all. */
void palette_restore(struct palette *p, int index);

/* The present value of an indexed colour. */
uint32_t palette_get(const struct palette *p, unsigned index);

/* The present value of a dynamic colour: 0 foreground, 1 background, 2 cursor. */
uint32_t palette_dynamic(const struct palette *p, unsigned which);
