#include "opinion.h"

#include "ring/screen/grid/width.h"
#include "ring/screen/view/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 60u

static void paint_anew(struct opinion *o);

static void start(struct opinion *o, unsigned rows, unsigned cols)
{
	if (screen_create(&o->s, &(struct screen_options){.rows = rows, .cols = cols}) < 0)
		abort();
	o->v = second_create(rows, screen_cols(o->s));
	o->seen = 0;
}

void opinion_init(struct opinion *o, unsigned rows, unsigned cols, unsigned long *used)
{
	*o = (struct opinion){.used = used};
	cutter_init(&o->cutter);
	start(o, rows, cols);
}

void opinion_finish(struct opinion *o)
{
	cutter_finish(&o->cutter);
	screen_destroy(o->s);
	second_destroy(o->v);
}

/* Compare the rows that have changed on either side. */
static struct difference compare_changed(struct opinion *o)
{
	unsigned first, end;
	second_changed(o->v, &first, &end);
	for (unsigned y = 0; y < o->s->rows; y++)
		if (screen_row_version(o->s, y) > o->seen) {
			first = y < first ? y : first;
			end = y + 1 > end ? y + 1 : end;
		}
	o->seen = screen_version(o->s);
	o->compared++;
	return compare(o->s, o->v, first, end);
}

/* Set modes and margins, which libvterm keeps once for both buffers, and tab stops. */
static void put_hidden(struct opinion *o)
{
	const struct screen *s = o->s;
	const struct buffer *b = s->active;
	second_print(o->v, "\033[?6l\033[%u;%ur\033[3g", b->top + 1, b->bottom + 1);
	for (unsigned x = 0; x < s->cols; x++)
		if (buffer_has_tab(b, x))
			second_print(o->v, "\033[%uG\033H", x + 1);
	second_print(o->v, "%s\033[4%c\033[?7%c", s->modes.origin ? "\033[?6h" : "",
		s->modes.insert ? 'h' : 'l', s->modes.wraparound ? 'h' : 'l');
}

/* Print a cell of ours at the cursor. */
static void put_cell(struct opinion *o, unsigned row, unsigned col)
{
	uint32_t codes[SCREEN_CLUSTER_MAX];
	unsigned n = compare_cell(o->s, row, col, codes);
	second_put(o->v, n > 0 ? codes : (const uint32_t[]){' '}, n > 0 ? n : 1);
}

/* Bring the second cursor to ours, with a pending wrap if ours has one. */
static void follow(struct opinion *o)
{
	const struct screen *s = o->s;
	const struct buffer *b = s->active;
	unsigned x = b->x < s->cols ? b->x : s->cols - 1;
	const struct line *line = screen_line(s, b->y);
	bool waits = b->x >= s->cols && s->modes.wraparound;
	if (waits && x > 0 && x < line->length && cell_is_tail(line->cells[x]) &&
		cell_width(line->cells[x - 1]) == 2)
		x--;
	/* DECRC moves the cursor anywhere; the next sequence moves it into the region. */
	if (s->modes.origin)
		second_print(o->v, "\033[?6l\033[%u;%uH\0337\033[?6h\0338", b->y + 1, x + 1);
	else
		second_print(o->v, "\033[%u;%uH", b->y + 1, x + 1);
	if (!waits)
		return;
	second_print(o->v, s->modes.insert ? "\033[4l" : "");
	put_cell(o, b->y, x);
	second_print(o->v, s->modes.insert ? "\033[4h" : "");
}

/* Paint cell by cell from the right, so that no mark joins an earlier cell. */
static void paint_cells(struct opinion *o)
{
	second_print(o->v, "\033[?6l\033[4l\033[?7h\033[r\033[H\033[2J");
	for (unsigned y = 0; y < o->s->rows; y++)
		for (unsigned x = o->s->cols; x-- > 0;) {
			uint32_t codes[SCREEN_CLUSTER_MAX];
			if (compare_cell(o->s, y, x, codes) == 0)
				continue;
			second_print(o->v, "\033[%u;%uH", y + 1, x + 1);
			put_cell(o, y, x);
		}
}

/* Paint a new second terminal from our snapshot, as for a client that attaches. */
static void paint_anew(struct opinion *o)
{
	struct snapshot snapshot;
	if (o->painting)
		return;
	struct opinion copy;
	opinion_init(&copy, o->s->rows, o->s->cols, o->used);
	copy.painting = true;
	if (screen_snapshot(o->s, 0, &snapshot) < 0)
		abort();
	opinion_feed(&copy, (const uint8_t *)snapshot.bytes, snapshot.length);
	free(snapshot.bytes);
	second_destroy(o->v);
	o->v = copy.v;
	copy.v = NULL;
	o->painted++;
	struct difference d = compare(o->s, o->v, 0, o->s->rows);
	o->painting = true;
	if (d.text) {
		o->unlike++;
		paint_cells(o);
	}
	put_hidden(o);
	follow(o);
	o->painting = false;
	d = compare(o->s, o->v, 0, o->s->rows);
	o->seen = 0;
	if (d.text || d.cursor) {
		printf("painting:");
		compare_explain(o->s, o->v, &d);
		putchar('\n');
		o->stopped = true;
	}
	opinion_finish(&copy);
}

static void print_finding(struct opinion *o, const struct piece *t, const struct difference *d)
{
	if (o->painting)
		return;
	o->stopped = true;
	printf("difference after ");
	for (size_t i = 0; i < t->length && i < SHOWN_MAX; i++)
		printf(t->bytes[i] > ' ' && t->bytes[i] < 0x7f && t->bytes[i] != '\\' ? "%c"
										      : "\\x%02x",
			t->bytes[i]);
	printf(" at %u,%u of %ux%u:", o->s->active->y, o->s->active->x, o->s->cols, o->s->rows);
	compare_explain(o->s, o->v, d);
	putchar('\n');
}

static void feed_ours(struct screen *s, const struct piece *t)
{
	for (size_t at = 0; at < t->length;)
		at += screen_feed(s, t->bytes + at, t->length - at, SIZE_MAX);
}

/* How a piece is fed to the second terminal, decided before our screen gets it. */
struct verdict {
	const struct rule *instead; /* whose bytes the second terminal gets, or NULL */
	bool any, may_differ, afresh, ours;
};

static struct verdict judge(struct opinion *o, const struct piece *t)
{
	struct verdict j = {0};
	for (unsigned i = 0; i < rules_count; i++) {
		const struct rule *r = &rules[i];
		if ((o->without && strcmp(o->without, r->name) == 0) || !r->applies(o->s, t))
			continue;
		o->used[i]++;
		j.any = true;
		j.may_differ = j.may_differ || r->then == RULE_MAY_DIFFER;
		j.afresh = j.afresh || r->then == RULE_STARTS_AFRESH;
		j.ours = j.ours || r->then == RULE_TAKES_OURS;
		if (!j.instead && r->instead)
			j.instead = r;
	}
	return j;
}

static void feed_piece(struct opinion *o, const struct piece *t)
{
	struct verdict j = judge(o, t);
	o->pieces++;
	if (j.instead)
		j.instead->instead(o->v, o->s, t);
	else
		second_feed(o->v, t->bytes, t->length);
	feed_ours(o->s, t);
	struct difference d = compare_changed(o);
	if (j.ours || (j.may_differ && d.text)) {
		paint_anew(o);
		return;
	}
	if (d.text || (d.cursor && !j.any)) {
		print_finding(o, t, &d);
		return;
	}
	if (j.afresh && !o->painting)
		paint_anew(o);
	else if (j.any) {
		if (j.afresh)
			put_hidden(o);
		follow(o);
	}
}

size_t opinion_feed(struct opinion *o, const uint8_t *bytes, size_t length)
{
	struct piece t;
	size_t at = 0;
	while (at < length && !o->stopped) {
		unsigned x = o->s->active->x, cols = o->s->cols;
		if (!cutter_next(&o->cutter, bytes + at, length - at, x < cols ? cols - x : 1, &t))
			return at;
		feed_piece(o, &t);
		at += t.length;
	}
	return length;
}

void opinion_resize(struct opinion *o, unsigned rows, unsigned cols)
{
	if (screen_resize(o->s, rows, cols) < 0)
		abort();
	paint_anew(o);
}
