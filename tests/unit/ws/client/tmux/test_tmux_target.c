/* Targets: sessions, windows and panes by name, index, id and place. tests/lib/tmux_model.h has the model. */
#include "tests/lib/tmux_test.h"
#include "ws/client/tmux/format.h"
#include "ws/client/tmux/target.h"

TestSuite(tmux_target, TMUX_SUITE);

static const char *find(const char *spec, enum target_type type)
{
	struct place at;
	if (target_find(&t, spec, type, TARGET_QUIET, &at) != 0)
		return "none";
	return format_at(&t, &at,
		type == TARGET_SESSION          ? "#S"
			: type == TARGET_WINDOW ? "#S:#I"
						: "#S:#I.#D");
}

Test(tmux_target, found_targets)
{
	static const struct {
		const char *spec;
		enum target_type type;
		const char *want;
	} cases[] = {
		{NULL, TARGET_SESSION, "alpha"},
		{"", TARGET_PANE, "alpha:0.%1"},
		{"alpha", TARGET_SESSION, "alpha"},
		{"alp", TARGET_SESSION, "alpha"},
		{"=alp", TARGET_SESSION, "none"},
		{"=alpha", TARGET_SESSION, "alpha"},
		{"b*", TARGET_SESSION, "beta"},
		{"*a", TARGET_SESSION, "none"}, /* a session and a window */
		{"$1", TARGET_SESSION, "beta"},
		{"$9", TARGET_SESSION, "none"},
		{"beta:", TARGET_SESSION, "beta"},
		{"%4", TARGET_SESSION, "beta"},
		{"beta", TARGET_WINDOW, "beta:5"},
		{"beta:1", TARGET_WINDOW, "beta:1"},
		{"beta:log", TARGET_WINDOW, "beta:1"},
		{"beta:e", TARGET_WINDOW, "beta:5"},
		{"beta:=e", TARGET_WINDOW, "none"},
		{"beta:^", TARGET_WINDOW, "beta:1"},
		{"beta:$", TARGET_WINDOW, "beta:5"},
		{"beta:+", TARGET_WINDOW, "beta:1"},
		{"beta:-3", TARGET_WINDOW, "beta:1"},
		{"alpha:!", TARGET_WINDOW, "alpha:1"},
		{"beta:9", TARGET_WINDOW, "none"},
		{"log", TARGET_WINDOW, "alpha:1"},
		{"@2", TARGET_WINDOW, "beta:5"},
		{"@99", TARGET_WINDOW, "none"},
		{"{end}", TARGET_WINDOW, "alpha:1"},
		{"%2", TARGET_PANE, "alpha:0.%2"},
		{"%99", TARGET_PANE, "none"},
		{"2", TARGET_PANE, "alpha:0.%2"},
		{"alpha:0.0", TARGET_PANE, "alpha:0.%0"},
		{"alpha:work.7", TARGET_PANE, "none"},
		{"alpha:work.%4", TARGET_PANE, "none"},
		{".+", TARGET_PANE, "alpha:0.%2"},
		{".-2", TARGET_PANE, "alpha:0.%2"},
		{"{left-of}", TARGET_PANE, "alpha:0.%0"},
		{"{right-of}", TARGET_PANE, "alpha:0.%2"},
		{"{top-left}", TARGET_PANE, "alpha:0.%0"},
		{"{last}", TARGET_PANE, "alpha:0.%0"},
		{"{marked}", TARGET_PANE, "alpha:0.%2"},
		{"~", TARGET_PANE, "alpha:0.%2"},
		{"{mouse}", TARGET_PANE, "none"},
		{"nosuch:1.0", TARGET_PANE, "none"},
		{"99999999999999999999", TARGET_WINDOW, "none"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_str_eq(find(cases[i].spec, cases[i].type), cases[i].want, "%s: %s",
			cases[i].spec, find(cases[i].spec, cases[i].type));
}

Test(tmux_target, inside_a_pane)
{
	t.pane = 4;
	cr_expect_str_eq(find(NULL, TARGET_PANE), "beta:5.%4");
	cr_expect_str_eq(find(":1", TARGET_WINDOW), "beta:1");
	t.pane = 77; /* a pane that has ended */
	cr_expect_str_eq(find(NULL, TARGET_PANE), "alpha:0.%1");
}

Test(tmux_target, window_that_may_be_missing)
{
	struct place at;
	cr_assert_eq(target_find(&t, "beta:9", TARGET_WINDOW, TARGET_INDEX, &at), 0);
	cr_expect(at.index == 9 && !at.link && strcmp(at.session->name, "beta") == 0);
	cr_assert_eq(target_find(&t, "beta:+", TARGET_WINDOW, TARGET_INDEX, &at), 0);
	cr_expect_eq(at.index, 6);
	cr_expect_neq(
		target_find(&t, "beta:-9", TARGET_WINDOW, TARGET_INDEX | TARGET_QUIET, &at), 0);
}

Test(tmux_target, empty_model)
{
	struct place at;
	tmux_tear_down();
	t = (struct tmux){.lock = -1, .pane = -1};
	model_init(&t.model, &t.arena);
	cr_expect_neq(target_find(&t, NULL, TARGET_PANE, TARGET_QUIET, &at), 0);
	cr_expect_neq(target_find(&t, "%0", TARGET_PANE, TARGET_QUIET, &at), 0);
	cr_expect_neq(target_find(&t, ":+.+", TARGET_PANE, TARGET_QUIET, &at), 0);
}
