#include "ws/client/connect/opposite.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(opposite, .timeout = 60);

static const struct option options[] = {{"queue", no_argument, NULL, 256},
	{"label", required_argument, NULL, 257}, {"color", optional_argument, NULL, 258},
	{"no-start", no_argument, NULL, 259}, {"read-only", no_argument, NULL, 'r'}, {0}};
enum { QUEUE, LABEL, COLOR, NO_START, READ_ONLY };

/* The words of a line after the removal of undone options. */
static const char *remaining(const char *line, const char *shorts, bool undone[OPPOSITES_MAX])
{
	static char copy[256], joined[256];
	char *argv[32], *rest = copy;
	int argc = 0;
	snprintf(copy, sizeof copy, "exec %s", line);
	while (rest && argc < 31)
		argv[argc++] = strsep(&rest, " ");
	argv[argc] = NULL;
	argc = opposite_remove(argc, argv, shorts, options, undone);
	cr_expect_null(argv[argc]);
	joined[0] = '\0';
	for (int i = 1; i < argc; i++)
		sprintf(joined + strlen(joined), "%s%s", i > 1 ? " " : "", argv[i]);
	return joined;
}

Test(opposite, later_option_wins)
{
	static const struct {
		const char *line, *want;
	} cases[] = {{"", ""}, {"--queue s", "--queue s"}, {"--queue --no-queue s", "s"},
		{"--queue --queue --no-queue", ""}, {"--no-queue --queue", "--queue"},
		{"--queue s --no-queue t", "s t"}, {"--no-start --start", ""},
		{"--read-only --no-read-only", ""}, {"--read-only --no-read", ""},
		/* Values and other words stay. */
		{"--label --no-queue --queue", "--label --no-queue --queue"},
		{"--label --queue --no-queue", "--label --queue"},
		{"--queue -- --no-queue", "--queue -- --no-queue"}, {"--no-label x", "--no-label x"},
		{"--no-color", "--no-color"}, {"--queue --nonsense --no-queue", "--nonsense"},
		{"-r s", "-r s"}, {"--label", "--label"}};
	bool undone[OPPOSITES_MAX];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_str_eq(remaining(cases[i].line, ":r", undone), cases[i].want, "%s: %s",
			cases[i].line, remaining(cases[i].line, ":r", undone));
}

Test(opposite, words_of_the_command_are_unchanged)
{
	bool undone[OPPOSITES_MAX];
	cr_expect_str_eq(
		remaining("--queue s cmd --no-queue", "+:r", undone), "--queue s cmd --no-queue");
	cr_expect_str_eq(remaining("--queue --no-queue s cmd --no-queue", "+:r", undone),
		"s cmd --no-queue");
}

Test(opposite, undone_options_are_reported)
{
	bool undone[OPPOSITES_MAX];
	remaining("--start --no-queue", ":r", undone);
	cr_expect(undone[NO_START] && undone[QUEUE] && !undone[READ_ONLY]);
	remaining("--start --no-start", ":r", undone);
	cr_expect_not(undone[NO_START]);
}
