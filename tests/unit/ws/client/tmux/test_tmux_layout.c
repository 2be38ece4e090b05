/* Layouts as text: written, parsed and refused. */
#include "ws/client/tmux/layout_set.h"
#include "ws/client/tmux/layout_text.h"

#include <criterion/criterion.h>
#include <string.h>

static struct room {
	struct arena arena;
	struct model m;
	struct window *w;
} r;

static void end(void)
{
	model_finish(&r.m);
	arena_finish(&r.arena);
	r = (struct room){0};
}

TestSuite(tmux_layout, .fini = end);

static void begin(unsigned panes)
{
	end();
	model_init(&r.m, &r.arena);
	r.w = model_add_window(&r.m, 0, "w");
	r.w->cols = 80;
	r.w->rows = 24;
	for (unsigned i = 0; i < panes; i++)
		model_add_pane(r.w, &r.m, i, NULL, false);
	layout_set_apply(&r.m, r.w, 0, &(struct layout_set_sizes){0});
	if (!r.w->layout)
		layout_init(&r.m, r.w, r.w->panes);
}

/* As tmux 3.3a writes them. */
Test(tmux_layout, is_written_as_by_tmux)
{
	static const struct {
		unsigned panes;
		const char *name, *want;
	} cases[] = {
		{1, "tiled", "b25d,80x24,0,0,0"},
		{2, "even-horizontal", "89f5,80x24,0,0{39x24,0,0,0,40x24,40,0,1}"},
		{2, "tiled", "9295,80x24,0,0[80x11,0,0,0,80x12,0,12,1]"},
		{3, "even-vertical", "e470,80x24,0,0[80x7,0,0,0,80x7,0,8,1,80x8,0,16,2]"},
		{4, "tiled",
			"30d6,80x24,0,0[80x11,0,0{39x11,0,0,0,40x11,40,0,1},80x12,0,12{39x12,0,12,2,40x12,40,12,3}]"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(cases[i].panes);
		layout_set_apply(
			&r.m, r.w, layout_set_find(cases[i].name), &(struct layout_set_sizes){0});
		const char *got = layout_text_write(&r.arena, r.w->layout);
		cr_expect_str_eq(got, cases[i].want, "%s", got);
		cr_expect(layout_text_apply(&r.m, r.w, got));
		cr_expect_str_eq(layout_text_write(&r.arena, r.w->layout), got);
	}
}

static bool apply(unsigned panes, const char *cells, const char *want)
{
	begin(panes);
	const char *before = layout_text_write(&r.arena, r.w->layout);
	bool applied = layout_text_apply(&r.m, r.w, layout_text_add_checksum(&r.arena, cells));
	const char *after = layout_text_write(&r.arena, r.w->layout);
	if (!applied)
		cr_expect_str_eq(after, before, "a refused layout changes nothing");
	else
		cr_expect_str_eq(after + 5, want, "%s", after);
	return applied;
}

Test(tmux_layout, is_parsed)
{
	cr_expect(apply(1, "80x24,0,0,0", "80x24,0,0,0"));
	cr_expect(apply(1, "80x24,0,0", "80x24,0,0,0"), "the id may be missing");
	cr_expect(apply(
		2, "80x24,0,0{50x24,0,0,9,29x24,51,0,8}", "80x24,0,0{50x24,0,0,0,29x24,51,0,1}"));
	cr_expect(apply(3, "81x24,0,0{40x24,0,0,0,40x24,41,0[40x12,41,0,1,40x11,41,13,2]}",
		"81x24,0,0{40x24,0,0,0,40x24,41,0[40x12,41,0,1,40x11,41,13,2]}"));
	/* An additional cell is dropped, and its neighbour gets its space. */
	cr_expect(apply(1, "80x24,0,0{50x24,0,0,0,29x24,51,0,1}", "80x24,0,0,0"));
}

Test(tmux_layout, is_refused)
{
	static const char *const cases[] = {"", "80x24", "80x24,0", "80x24,0,", "80x24,0,0,0x",
		"0x24,0,0,0", "80x0,0,0,0", "-1x24,0,0,0", "1001x24,0,0,0", "80x1001,0,0,0",
		"99999999999999999999x1,0,0,0", "80x24,0,0{", "80x24,0,0{}", "80x24,0,0{80x24,0,0,0",
		"80x24,0,0{80x24,0,0,0]", "80x24,0,0{40x24,0,0,0,40x24,41,0,1}",
		"80x24,0,0{40x24,0,0,0,39x23,41,0,1}", "80x24,0,0[80x12,0,0,0,80x12,0,13,1]"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect(!apply(1, cases[i], ""), "%s", cases[i]);
	cr_expect(!apply(3, "80x24,0,0{40x24,0,0,0,39x24,41,0,1}", ""), "too few cells");
	begin(1);
	cr_expect(!layout_text_apply(&r.m, r.w, "b25e,80x24,0,0,0"), "the checksum is wrong");
	cr_expect(!layout_text_apply(&r.m, r.w, "zzzz,80x24,0,0,0"));
	cr_expect(!layout_text_apply(&r.m, r.w, "b25d"));
	cr_expect(layout_text_apply(&r.m, r.w, "b25d,80x24,0,0,0"));
}

/* tmux itself writes such a layout if one place has more panes than fit. */
Test(tmux_layout, written_layout_is_restored)
{
	static const char cells[] = "80x4,0,0[80x2,0,0[80x1,0,0,0,80x1,0,2,1],80x1,0,3,2]";
	begin(3);
	const char *text = layout_text_add_checksum(&r.arena, cells);
	cr_expect(!layout_text_apply(&r.m, r.w, text));
	cr_expect(layout_text_restore(&r.m, r.w, text));
	cr_expect_str_eq(layout_text_write(&r.arena, r.w->layout), text);
	cr_expect(!layout_text_restore(&r.m, r.w, "0000,80x24,0,0,0"));
}

Test(tmux_layout, too_deep_nesting)
{
	begin(1);
	struct text t = {.arena = &r.arena};
	for (unsigned i = 0; i < 100000; i++)
		text_puts(&t, "80x24,0,0{");
	cr_expect(!layout_text_apply(&r.m, r.w, layout_text_add_checksum(&r.arena, text_get(&t))));
}

Test(tmux_layout, names)
{
	cr_expect_eq(layout_set_find("tiled"), 4);
	cr_expect_eq(layout_set_find("t"), 4);
	cr_expect_eq(layout_set_find("main-v"), 3);
	cr_expect_eq(layout_set_find("main"), -1);
	cr_expect_eq(layout_set_find("nosuch"), -1);
}
