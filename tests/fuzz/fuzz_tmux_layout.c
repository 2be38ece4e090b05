/*
 * Layouts of `ringside tmux` as text. A valid layout must give every pane a possible cell, be written as it was read,
 * and stay valid when its window is resized and its panes are closed and split.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/random.h"
#include "ws/client/tmux/layout_set.h"
#include "ws/client/tmux/layout_text.h"

#include <utlist.h>

static size_t check_cell(const struct cell *c)
{
	const struct cell *child;
	size_t leaves = 0;
	FUZZ_CHECK(c->cols >= 1 && c->rows >= 1 && c->x >= 0 && c->y >= 0);
	if (c->type == CELL_PANE) {
		FUZZ_CHECK(c->pane && c->pane->cell == c && !c->children);
		return 1;
	}
	FUZZ_CHECK(c->children);
	DL_FOREACH (c->children, child) {
		FUZZ_CHECK(child->parent == c);
		leaves += check_cell(child);
	}
	return leaves;
}

static void check(const struct window *w)
{
	FUZZ_CHECK(check_cell(w->layout) == model_count_panes(w));
}

/* Written and parsed again, a layout must be the same. */
static void check_text(struct model *m, struct window *w)
{
	char *text = layout_text_write(m->arena, w->layout);
	FUZZ_CHECK(layout_text_restore(m, w, text));
	FUZZ_CHECK(strcmp(layout_text_write(m->arena, w->layout), text) == 0);
}

static struct pane *choose(const struct window *w, struct random *r)
{
	struct pane *p = w->panes;
	for (unsigned n = (unsigned)random_below(r, model_count_panes(w)); n > 0; n--)
		p = p->next;
	return p;
}

static void change(struct model *m, struct window *w, struct random *r)
{
	struct pane *p = choose(w, r);
	struct layout_split split = {.type = random_below(r, 2) ? CELL_ROW : CELL_COLUMN,
		.size = (int)random_below(r, 20) - 1,
		.before = random_below(r, 2),
		.full = random_below(r, 3) == 0};
	switch (random_below(r, 6)) {
	case 0:
		layout_resize(
			w, 1 + (int)random_below(r, MODEL_SIDE_MAX), 1 + (int)random_below(r, 300));
		break;
	case 1:
		layout_resize_pane(w, p, split.type, (int)random_below(r, 40) - 20);
		break;
	case 2:
		layout_resize_pane_to(w, p, split.type, (int)random_below(r, 200));
		break;
	case 3:
		layout_spread_out(w, p);
		break;
	case 4:
		if (w->panes->next) {
			layout_close(w, p);
			model_remove_pane(p);
		}
		break;
	default: {
		struct cell *c = layout_split(m, p, &split);
		/* Panes have the order of their cells. */
		if (split.full)
			p = split.before ? w->panes : w->panes->prev;
		if (c)
			layout_set_pane(c, model_add_pane(w, m, m->next_pane++, p, split.before));
		break;
	}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	struct model m;
	struct fuzz_input in = {data, size};
	unsigned panes = 1 + fuzz_byte(&in) % 8;
	struct random r = {UINT64_C(0x9e3779b97f4a7c15) + fuzz_byte(&in)};
	int preset = fuzz_byte(&in) % (LAYOUT_SET_COUNT + 1);
	char *text = fuzz_text(&in, '\0');
	model_init(&m, &arena);
	struct window *w = model_add_window(&m, 0, "w");
	for (unsigned i = 0; i < panes; i++)
		model_add_pane(w, &m, m.next_pane++, NULL, false);
	w->cols = 80;
	w->rows = 24;
	layout_set_apply(&m, w, 0, &(struct layout_set_sizes){0});
	if (!w->layout)
		layout_init(&m, w, w->panes);
	check(w);
	/* A fuzzer does not find checksums, so compute the right one. */
	if (layout_text_apply(&m, w, layout_text_add_checksum(&arena, text)))
		check_text(&m, w);
	check(w);
	layout_text_apply(&m, w, text);
	check(w);
	if (preset < LAYOUT_SET_COUNT)
		layout_set_apply(&m, w, preset,
			&(struct layout_set_sizes){.main_cols = text, .other_rows = text});
	for (int i = 0; i < 12; i++) {
		change(&m, w, &r);
		check(w);
	}
	check_text(&m, w);
	check(w);
	free(text);
	model_finish(&m);
	arena_finish(&arena);
	return 0;
}
