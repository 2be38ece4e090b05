/*
 * The snapshot. Input: see screen_input.h.
 *
 * A fresh screen that gets the snapshot, and one that has been used, look the same as the screen it was
 * taken of, and a snapshot of the fresh one is the same bytes. Nothing in a snapshot makes a terminal answer.
 */
#include "ring/screen/snapshot.h"
#include "tests/fuzz/screen_input.h"

static struct snapshot take(struct drawn *d, unsigned lines)
{
	struct snapshot snapshot;
	FUZZ_CHECK(screen_snapshot(d->screen, lines, &snapshot) == 0);
	FUZZ_CHECK(snapshot.lines <= lines && snapshot.lines <= screen_scrollback(d->screen));
	return snapshot;
}

/* What can be seen of two screens, and what will be seen as they go on. */
static void expect_alike(const struct drawn *left, const struct drawn *right)
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

/* fresh: nothing that no sequence takes back was there before. */
static void restore(
	struct drawn *from, struct drawn *to, const struct snapshot *snapshot, bool fresh)
{
	drawn_clear(&to->replies);
	drawn_feed(to, snapshot->bytes, snapshot->length, SIZE_MAX);
	FUZZ_CHECK(to->replies.length == 0);
	FUZZ_CHECK(parser_is_ground(&to->screen->parser));
	FUZZ_CHECK(screen_scrollback(to->screen) == snapshot->lines);
	drawn_check(to);
	expect_alike(from, to);
	if (!fresh)
		return;
	drawn_same_past(from->screen, to->screen);
	struct snapshot again = take(to, snapshot->lines);
	drawn_same_bytes(snapshot->bytes, snapshot->length, again.bytes, again.length);
	free(again.bytes);
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
		total += 64 + step.length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct drawn d, fresh, used;
	unsigned rows, cols;
	screen_sides(&in, &rows, &cols);
	unsigned scrollback = fuzz_byte(&in);
	unsigned lines = fuzz_byte(&in);
	drawn_init(&d, rows, cols, scrollback);
	run(&in, &d);
	rows = screen_rows(d.screen);
	cols = screen_cols(d.screen);
	drawn_init(&fresh, rows, cols, scrollback);
	drawn_init(&used, rows, cols, scrollback);
	in = (struct fuzz_input){data, size};
	run(&in, &used);
	screen_resize(used.screen, rows, cols);
	struct snapshot snapshot = take(&d, lines < 128 ? UINT32_MAX : lines - 128);
	restore(&d, &fresh, &snapshot, true);
	restore(&d, &used, &snapshot, false);
	free(snapshot.bytes);
	drawn_finish(&d);
	drawn_finish(&fresh);
	drawn_finish(&used);
	return 0;
}
