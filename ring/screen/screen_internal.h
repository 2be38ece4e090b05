/* What the files of the screen share. Rows and columns count from 0. */
#pragma once

#include "ring/screen/grid/intern.h"
#include "ring/screen/grid/line.h"
#include "ring/screen/markers.h"
#include "ring/screen/parser.h"
#include "ring/screen/screen.h"
#include "ring/screen/grid/scrollback.h"
#include "ring/screen/grid/style.h"

#define SCREEN_TAB_WORDS (SCREEN_SIDE_MAX / 64 + 1) /* a stop may lie one behind the last column */
#define SCREEN_STYLES_MAX (UINT32_C(1) << 18)
#define SCREEN_CLUSTERS_MAX (UINT32_C(1) << 17)
#define SCREEN_LINKS_MAX (UINT32_C(1) << 16)
#define SCREEN_INTERN_BYTES ((size_t)16 << 20) /* what each of the three may take */
#define PALETTE_SIZE 256u

/* What DECSC keeps. The row is absolute, counted from the oldest line of the scrollback, as in xterm.js. */
struct saved_cursor {
	unsigned x;
	int64_t y;
	uint32_t fg, bg;
	uint16_t flags;
	uint8_t charset;
};

struct kitty_stack {
	uint8_t flags; /* now */
	uint8_t count;
	uint8_t saved[SCREEN_KITTY_MAX];
};

struct buffer {
	struct line **rows;   /* circular; NULL while the alternate buffer is not in use */
	unsigned first;       /* index of row 0 */
	unsigned count;       /* rows that there are memory for */
	unsigned x, y;        /* cursor; x is `cols` while a wrap is pending */
	unsigned top, bottom; /* scroll region, inclusive */
	uint64_t tabs[SCREEN_TAB_WORDS];
	struct saved_cursor saved;
	struct kitty_stack kitty;
	uint64_t moved; /* version in which rows last changed places */
};

/* Charsets are named by their final byte; 'B' (ASCII) is the default and maps nothing. */
struct charsets {
	uint8_t g[4];
	uint8_t level;   /* which of g is invoked */
	uint8_t current; /* in use: g[level], unless DECRC brought another one back */
};

/* Titles that XTWINOPS 22 has put aside; the newest last. */
struct title_stack {
	char *items[SCREEN_TITLES_MAX];
	unsigned count;
};

/* Colours that the program has set: 0xRRGGBB, with the top byte set where there is one. */
struct palette {
	uint32_t *indexed;   /* PALETTE_SIZE of them, or NULL while there are none */
	uint32_t dynamic[3]; /* foreground, background, cursor: OSC 10 to 12 */
};

/* Styles that were looked up lately, so that colours that come and go need no hash of their own. */
#define SCREEN_RECENT 64u
struct recent_style {
	struct style style;
	uint32_t number; /* 0: none */
};

struct screen {
	struct parser parser;
	const struct screen_callbacks *callbacks;
	void *user;
	bool muted;
	bool private_sequences; /* those of a checkpoint are understood */
	uint64_t line_offset;   /* the last that a checkpoint has said */
	unsigned rows, cols;
	struct buffer primary, alternate;
	struct buffer *active;
	struct line **pool; /* lines that no row has at the moment, of `cols` cells; up to `rows` of them */
	unsigned pooled;
	struct scrollback scrollback;
	struct markers markers;
	const char *mark_secret; /* borrowed; marks without it are not kept; NULL: all are */
	struct intern styles, clusters, links;
	struct recent_style recent[SCREEN_RECENT];
	struct style pen;
	uint32_t pen_style;   /* number of the pen's style, valid unless pen_changed */
	uint32_t erase_style; /* that of the background alone, likewise */
	bool pen_changed;
	struct style prompt_pen; /* that the last prompt has ended with */
	struct charsets charsets;
	struct screen_modes modes;
	bool blink_set;    /* a program has set or reset ?12, which the viewer decides otherwise */
	unsigned join;     /* width of the character that a combining mark would join; 0 = none */
	uint8_t join_kind; /* with clusters: of its last character, see struct grapheme */
	enum screen_unicode unicode; /* what a reset brings back */
	bool had_graphemes; /* mode 2027 has been set or reset: some of what is there may be clusters */
	bool in_run;        /* the last thing that came was printed */
	char *title, *icon, *cwd; /* owned; NULL = never set */
	struct title_stack titles, icons;
	struct palette palette;
	uint64_t next_link; /* counts links that have no id of their own */
	uint64_t version;
	size_t work, work_max; /* cells touched in this feed */
	bool pause;            /* the feed has done its share of work, or bulk may begin */
	uint64_t bulk_at;      /* no bulk begins before this offset */
	unsigned missing;      /* rows at the top that are in the scrollback already */
	bool sweeps_wait;      /* styles are in use that nobody knows of */
};

/* Where row y is in the active buffer. */
static inline struct line **screen_slot(const struct screen *s, unsigned y)
{
	const struct buffer *b = s->active;
	unsigned i = b->first + y;
	return &b->rows[i >= b->count ? i - b->count : i];
}

/* Row y of the active buffer. It may be that of other rows as well, until it is touched. */
static inline const struct line *screen_line(const struct screen *s, unsigned y)
{
	return *screen_slot(s, y);
}

/* A row that is about to be changed: it gets a line of its own. buffer.c */
struct line *screen_own(struct screen *s, struct line **slot);

static inline struct line *screen_touch(struct screen *s, unsigned y)
{
	struct line **slot = screen_slot(s, y), *line = *slot;
	if (line->shares > 0)
		line = screen_own(s, slot);
	line->version = s->version;
	return line;
}

/* Count cells that were touched. */
static inline void screen_worked(struct screen *s, size_t cells)
{
	s->work += cells;
	if (s->work >= s->work_max)
		s->pause = true;
}

/* The pen has changed: find the numbers of its styles. screen.c */
void screen_find_pen(struct screen *s);

/* Number of the pen's style. */
static inline uint32_t screen_pen_style(struct screen *s)
{
	if (s->pen_changed)
		screen_find_pen(s);
	return s->pen_style;
}

/* An empty cell in the pen's style. */
static inline struct cell screen_pen_blank(struct screen *s)
{
	return (struct cell){.style = screen_pen_style(s)};
}

/* An erased cell: the pen's background. */
static inline struct cell screen_blank(struct screen *s)
{
	screen_pen_style(s);
	return (struct cell){.style = s->erase_style};
}

static inline int screen_param(const struct params *a, unsigned i)
{
	return i < a->count ? a->value[i] : 0;
}

/* A parameter for which nothing and 0 mean 1. */
static inline unsigned screen_count(const struct params *a, unsigned i)
{
	int n = screen_param(a, i);
	return n > 0 ? (unsigned)n : 1;
}

/* screen.c */
uint32_t screen_style(struct screen *s, const struct style *style); /* its number */
void screen_drop_lines(struct screen *s, unsigned n); /* the oldest of the scrollback */
void screen_collect(struct screen *s); /* forget styles, clusters and links that nobody uses */
void screen_sweep(
	struct screen *s, const struct intern *t); /* if that has grown, and it may be now */
void screen_set_sweeps(struct screen *s); /* how often that is, which depends on the size */
void screen_reset(struct screen *s);      /* RIS */
void screen_set_text(char **where, const char *text, size_t length, size_t max);
void screen_reply(struct screen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void screen_tell(struct screen *s, struct screen_event event);
uint32_t screen_put_cluster(struct screen *s, const uint32_t *codes, size_t count);

/* buffer.c */
bool buffer_fill(struct buffer *b, unsigned rows, unsigned cols);
/* The same, but all rows are one line until they are touched: most screens stay nearly empty. */
bool buffer_fill_shared(struct buffer *b, unsigned rows, unsigned cols);
void buffer_empty(struct buffer *b, unsigned rows, unsigned cols);
bool buffer_has_tab(const struct buffer *b, unsigned col);
void buffer_set_tab(struct buffer *b, unsigned col, bool on);
unsigned buffer_next_tab(const struct buffer *b, unsigned col, unsigned cols);
unsigned buffer_previous_tab(const struct buffer *b, unsigned col, unsigned cols);
void buffer_tabs_resized(struct buffer *b, unsigned cols);
void screen_scroll(struct screen *s, bool wrapped); /* the region moves up by one line */
void screen_scroll_in(
	struct screen *s, uint64_t n, struct line *line); /* by n; all that come in are this one */
struct line *screen_make_line(struct screen *s);
void screen_set_rows(struct screen *s, unsigned first, unsigned end, struct line *line);
/* Rows from first on that share a line: index behind the last; and the line of row y for those up to end, too. */
unsigned screen_same_rows(const struct screen *s, unsigned first, unsigned end);
void screen_spread_row(struct screen *s, unsigned y, unsigned end, struct line *line);
void screen_fill_rows(struct screen *s, unsigned first, unsigned end, struct cell cell);
bool screen_make_pool(struct screen *s, unsigned rows);
void screen_free_pool(struct screen *s);
void screen_shift(struct screen *s, unsigned top, unsigned bottom, int n, struct cell blank);
void screen_use_alternate(struct screen *s);
void screen_use_primary(struct screen *s);
int64_t screen_base(const struct screen *s); /* absolute row of row 0 of the active buffer */

/* Rows [0, count) go into the scrollback; and the row at the bottom becomes blank. */
void screen_push_rows(struct screen *s, unsigned count);
void screen_renew_bottom(struct screen *s);

/* bulk.c */
bool screen_bulk_may_begin(const struct screen *s);
/* Take whole lines in one go, if that is worth it. Returns the bytes that were taken, maybe none. */
size_t screen_bulk(struct screen *s, const uint8_t *bytes, size_t length);

/* print.c */
void screen_print_ascii(void *user, const uint8_t *ascii, size_t length);
void screen_print(void *user, uint32_t code);
void screen_repeat(struct screen *s, unsigned n);

/* control.c */
void screen_control(void *user, uint8_t code);
void screen_escape(void *user, uint32_t id);
void screen_restrict(struct screen *s, unsigned max_x);
void screen_set_cursor(struct screen *s, int64_t x, int64_t y);
void screen_save_cursor(struct screen *s);
void screen_restore_cursor(struct screen *s);

/* csi.c, sgr.c, modes.c, edit.c */
void screen_csi(void *user, uint32_t id, const struct params *a);
void screen_sgr(struct screen *s, const struct params *a);
void screen_set_modes(struct screen *s, const struct params *a, bool on);
void screen_set_private_modes(struct screen *s, const struct params *a, bool on);
void screen_soft_reset(struct screen *s);
void screen_kitty(struct screen *s, uint32_t id, const struct params *a);
bool screen_edit(struct screen *s, uint32_t id, const struct params *a);

/* osc.c */
void screen_osc(void *user, uint32_t number, const char *data, size_t length);
void screen_window_op(struct screen *s, const struct params *a);

/* reply.c */
bool screen_query(struct screen *s, uint32_t id, const struct params *a);
void screen_dcs(void *user, uint32_t id, const struct params *a, const char *data, size_t length);

/* palette.c */
bool palette_parse(const char *spec, size_t length, uint32_t *ret_rgb);
bool palette_set(struct palette *p, unsigned index, uint32_t rgb);
void palette_restore(struct palette *p, int index); /* -1: all */
uint32_t palette_get(const struct palette *p, unsigned index);
uint32_t palette_dynamic(const struct palette *p, unsigned which);
