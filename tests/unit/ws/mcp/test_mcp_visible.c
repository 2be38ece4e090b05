#include "ws/mcp/visible.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *seen(const char *text, bool line)
{
	static char dst[1024];
	cr_assert_leq(VISIBLE_SIZE(strlen(text)), sizeof dst);
	cr_assert_eq(visible_text(text, strlen(text), line, dst), strlen(dst));
	return dst;
}

Test(visible_text, visible_characters_are_unchanged)
{
	static const char *const texts[] = {"", "plain\ttext\n",
		"Zo\u00eb \u65e5\u672c \u0440\u0443\u0441 \u05e9\u05dc\u05d5\u05dd",
		"\u2764\ufe0f \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f469\u200d\U0001f4bb",
		"\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
		"e\u0301 \u00a0 \u2026 \\u{202E}"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		cr_expect_str_eq(seen(texts[i], false), texts[i]);
}

Test(visible_text, invisible_characters_are_escaped)
{
	static const struct {
		const char *text, *want;
	} cases[] = {{"a\u202eb", "a\\u{202E}b"}, {"\u2066x\u2069", "\\u{2066}x\\u{2069}"},
		{"\xc2\x9b"
		 "31m",
			"\\u{9B}31m"},
		{"\x7f\x1b", "\\u{7F}\\u{1B}"}, {"\U000e0041\U000e007f", "\\u{E0041}\\u{E007F}"},
		{"\U000e0100", "\\u{E0100}"}, {"\u200b\ufeff\u00ad", "\\u{200B}\\u{FEFF}\\u{AD}"},
		{"\u2028", "\\u{2028}"}, {"a\u200db", "a\\u{200D}b"}, {"\ufe00", "\\u{FE00}"},
		{"\u202e\ufe0f\u200d", "\\u{202E}\\u{FE0F}\\u{200D}"},
		{"\u65e5\ufe00\ufe01", "\u65e5\ufe00\\u{FE01}"}, {"\xff", "\ufffd"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_str_eq(seen(cases[i].text, false), cases[i].want, "%zu", i);
}

Test(visible_text, name_stays_on_its_line)
{
	cr_expect_str_eq(seen("/tmp\nexit code 0\t", true), "/tmp\\nexit code 0\\t");
	cr_expect_str_eq(seen("a\nb\t", false), "a\nb\t");
}

Test(visible_text, nul_is_escaped)
{
	char dst[VISIBLE_SIZE(3)];
	cr_expect_eq(visible_text("a\0b", 3, false, dst), strlen("a\\u{0}b"));
	cr_expect_str_eq(dst, "a\\u{0}b");
}
