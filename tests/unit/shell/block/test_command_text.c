/* The command that was typed, from the terminal's echo. */
#include "shell/block/command_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AID ";aid=n\a"
#define A "\033]133;A" AID
#define B "\033]133;B" AID
#define PS2_BEGIN "\033]133;P;k=s" AID
#define PS2_END "\033]133;P;k=e" AID
#define ENTER "\r\n\033[?2004l\r"

static void check(const char *bytes, unsigned cols, const char *wanted)
{
	char *text = command_text("n", bytes, strlen(bytes), cols);
	if (wanted)
		cr_assert_str_eq(text ? text : "(none)", wanted);
	else
		cr_assert_null(text);
	free(text);
}

Test(command_text, one_line)
{
	check(A "$ " B "ls -l" ENTER, 80, "ls -l");
	check(A "\033[1mme@host\033[m:~$ " B "echo  \303\244 \344\275\240" ENTER, 80,
		"echo  \303\244 \344\275\240");
	check(A B "ls" ENTER, 80, "ls");
	check(A "$ " B ENTER, 80, "");
	check("$ ls" ENTER, 80, NULL);
}

Test(command_text, edited_line)
{
	check(A "$ " B "lx\b\033[Ks" ENTER, 80, "ls");
	check(A "$ " B "cho a\b\b\b\b\b\033[1@e\033[C\033[C\033[C\033[C\033[C" ENTER, 80, "echo a");
	/* Ctrl-L, and the prompt is drawn again */
	check(A "$ " B "echo one\033[H\033[J" A "$ " B "echo one" ENTER, 80, "echo one");
}

/* A program has drawn over the prompt: whole characters remain. */
Test(command_text, drawn_over_the_prompt)
{
	check(A "$" B "ls\r\303\244\303\266\303\274" ENTER, 80, "\303\266\303\274");
	check(A "$" B "ls\r\344\275\240" ENTER, 80, "s");
}

Test(command_text, wrapped_line)
{
	check(A "$ " B "echo aaa bbb ccc ddd" ENTER, 10, "echo aaa bbb ccc ddd");
}

Test(command_text, several_lines)
{
	check(A "$ " B "for i in a b; do" ENTER PS2_BEGIN "> " PS2_END "  echo $i" ENTER PS2_BEGIN
		"> " PS2_END "done" ENTER,
		80, "for i in a b; do\n  echo $i\ndone");
	check(A "$ " B "echo one\r\necho two" ENTER, 80, "echo one\necho two");
}

/* Text typed ahead is echoed while no line is edited, perhaps before the command's mark. */
Test(command_text, typed_ahead)
{
	check(A "$ " B ": 13" ENTER ": 29\r\n: the last\r\n", 80, ": 13");
	check(A "$ " B "for i in a; do" ENTER "ahead\r\n\033[?2004h" PS2_BEGIN "> " PS2_END
		"done" ENTER "more",
		80, "for i in a; do\ndone");
	check(A "$ " B "echo one\r\n\033[?2004", 80, "echo one");
	/* A key binding runs a program, which restores the paste mode. */
	check(A "$ " B "echo \033[?2004h\033[?2004lone" ENTER "more", 80, "echo one");
}

Test(command_text, length_is_limited)
{
	size_t length = 3 * COMMAND_TEXT_MAX;
	char *bytes = malloc(length + 100), *text;
	strcpy(bytes, A "$ " B);
	size_t prefix = strlen(bytes);
	memset(bytes + prefix, 'x', length);
	text = command_text("n", bytes, prefix + length, 80);
	cr_assert_not_null(text);
	cr_assert_leq(strlen(text), COMMAND_TEXT_MAX);
	free(text);
	free(bytes);
}

/* Clearing a screen takes four bytes: the largest source could take minutes to draw. */
Test(command_text, slow_source_gives_no_command, .timeout = 60)
{
	static const char again[] = "\033[2J";
	const size_t each = sizeof again - 1, count = (COMMAND_TEXT_SOURCE_MAX - 100) / each;
	char *bytes = malloc(COMMAND_TEXT_SOURCE_MAX + 1), *end;
	cr_assert_not_null(bytes);
	end = stpcpy(bytes, A "$ " B "ls ");
	for (size_t i = 0; i < count; i++)
		end = stpcpy(end, again);
	clock_t begun = clock();
	cr_assert_null(command_text("n", bytes, (size_t)(end - bytes), 1000));
	cr_assert_lt((double)(clock() - begun) / CLOCKS_PER_SEC, 5.0);
	free(bytes);
}
