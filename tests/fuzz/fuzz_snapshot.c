/*
 * The snapshot. Input: see screen_input.h.
 *
 * A new screen and a used one that are fed the snapshot must look like the original. So must one that is fed a snapshot
 * of the new screen, whose bytes must be the same. A snapshot must not make a terminal reply.
 */
#include "ring/screen/view/snapshot.h"
#include "ring/screen/grid/width.h"
#include "tests/fuzz/screen_input.h"

#include <limits.h>

static struct snapshot make_snapshot(struct drawn *d, unsigned lines)
{
	struct snapshot snapshot;
	FUZZ_CHECK(screen_snapshot(d->screen, lines, &snapshot) == 0);
	FUZZ_CHECK(snapshot.lines <= lines && snapshot.lines <= screen_scrollback(d->screen));
	return snapshot;
}

/* The character in a cell, without its marks. */
static uint32_t first_code(const struct screen *s, struct cell cell)
{
	size_t size = 0;
	if (!(cell.text & CELL_CLUSTER))
		return cell.text & CELL_CODE;
	const uint32_t *codes = intern_get(&s->clusters, cell.text & CELL_CODE, &size);
	FUZZ_CHECK(codes && size >= sizeof *codes);
	return codes[0];
}

/*
 * Whether a line has halves of wide characters without the other half, which xterm.js leaves when a run of characters
 * overwrites it. A snapshot cannot restore them.
 */
static bool has_halves(const struct screen *s, const struct line *line, unsigned cols)
{
	/* An invisible half in the last column is not in the snapshot. */
	if (line->used >= cols && line->cells[cols - 1].text == 0) {
		const struct style *style = drawn_style(s, line->cells[cols - 1].style);
		const struct style erased = {.bg = style->bg};
		if (memcmp(style, &erased, sizeof erased) != 0)
			return true;
	}
	for (unsigned x = 0; x < cols && x < line->used; x++) {
		struct cell cell = line->cells[x];
		/*
		 * A mark in an empty cell: a resize separated it from its character. Further marks may have joined it.
		 * A mark may make a character wider.
		 */
		uint32_t code = first_code(s, cell);
		bool marks = !(cell.text & CELL_CLUSTER) || width_of(code) == 0;
		if (cell_has_content(cell) && marks && cell_width(cell) != width_of(code))
			return true;
		bool head = cell_width(cell) == 2;
		bool tail = x + 1 < line->length && cell_is_tail(line->cells[x + 1]);
		if (x == 0 && cell_is_tail(line->cells[0]))
			return true;
		if (x + 1 < cols ? head != tail : head)
			return true;
	}
	return false;
}

static bool is_odd(const struct screen *s)
{
	const struct buffer *buffers[] = {&s->primary, &s->alternate};
	/* In a single row, wrapped text is out of reach. */
	bool odd = s->rows == 1 || s->had_graphemes; /* so is a part of a cluster that was cut */
	for (unsigned i = 0; i < 2; i++)
		for (unsigned y = 0; buffers[i]->rows && y < s->rows; y++)
			odd = odd || has_halves(s, buffer_row(buffers[i], y), s->cols);
	for (unsigned i = 0; i < s->scrollback.count && !odd; i++) {
		struct line *line = packed_unpack(scrollback_get(&s->scrollback, i), s->cols);
		odd = has_halves(s, line, s->cols);
		free(line);
	}
	return odd;
}

/* Compare what is visible on two screens now and later. */
static void expect_equivalent(const struct drawn *left, const struct drawn *right)
{
	const struct screen *a = left->screen, *b = right->screen;
	unsigned row[2], col[2];
	DRAWN_CHECK(screen_is_alternate(a) == screen_is_alternate(b));
	drawn_same_rows(a, &a->primary, b, &b->primary, false);
	drawn_same_rows(a, &a->alternate, b, &b->alternate, false);
	drawn_same_scrollback(a, b, false);
	screen_cursor(a, &row[0], &col[0]);
	screen_cursor(b, &row[1], &col[1]);
	DRAWN_CHECK(row[0] == row[1] && col[0] == col[1]);
	DRAWN_CHECK(a->active->top == b->active->top && a->active->bottom == b->active->bottom);
	drawn_same_tabs(a->active, b->active, a->cols);
	drawn_same_style(a, &a->pen, b, &b->pen, false);
	drawn_same_modes(&a->modes, &b->modes);
	drawn_same_palette(&a->palette, &b->palette);
	drawn_same_strings(a, b);
}

static void restore(struct drawn *from, struct drawn *to, const struct snapshot *snapshot)
{
	drawn_clear(&to->replies);
	drawn_feed(to, snapshot->bytes, snapshot->length, SIZE_MAX);
	FUZZ_CHECK(to->replies.length == 0);
	FUZZ_CHECK(parser_is_ground(&to->screen->parser));
	FUZZ_CHECK(screen_scrollback(to->screen) == snapshot->lines);
	drawn_check(to);
	if (!is_odd(from->screen))
		expect_equivalent(from, to);
}

/* Returns a snapshot of a screen that was restored from a snapshot. */
static struct snapshot resnapshot(struct drawn *from, const struct snapshot *snapshot)
{
	struct drawn fresh;
	drawn_init(&fresh, screen_rows(from->screen), screen_cols(from->screen),
		screen_scrollback_max(from->screen));
	restore(from, &fresh, snapshot);
	drawn_same_past(from->screen, fresh.screen);
	struct snapshot other = make_snapshot(&fresh, snapshot->lines);
	drawn_finish(&fresh);
	return other;
}

static void run(struct fuzz_input *in, struct drawn *d)
{
	static struct screen_step step;
	size_t total = 0;
	while (in->left > 0 && total < SCREEN_OUTPUT_MAX) {
		screen_step(in, &step);
		if (step.type == STEP_RESIZE)
			screen_resize(d->screen, step.rows, step.cols);
		else
			drawn_feed(d, step.bytes, step.length, SIZE_MAX);
		scrollback_freeze(&d->screen->scrollback, 2, 500, UINT_MAX);
		total += 64 + step.length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct drawn d, used;
	unsigned rows, cols;
	screen_sides(&in, &rows, &cols);
	unsigned scrollback = fuzz_byte(&in);
	unsigned lines = fuzz_byte(&in);
	drawn_init(&d, rows, cols, scrollback);
	drawn_init(&used, rows, cols, scrollback);
	run(&in, &d);
	in = (struct fuzz_input){data, size};
	run(&in, &used);
	screen_resize(used.screen, screen_rows(d.screen), screen_cols(d.screen));
	struct snapshot first = make_snapshot(&d, lines < 128 ? UINT32_MAX : lines - 128);
	restore(&d, &used, &first);
	struct snapshot second = resnapshot(&d, &first), third = resnapshot(&d, &second);
	if (!is_odd(d.screen))
		drawn_same_bytes(second.bytes, second.length, third.bytes, third.length);
	free(first.bytes);
	free(second.bytes);
	free(third.bytes);
	drawn_finish(&d);
	drawn_finish(&used);
	return 0;
}
