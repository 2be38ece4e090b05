/* Characters that may be drawn, and those that never are. */
#include "ws/client/draw/glyph.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* All characters of a text, each followed by a bar, and by > if it is wide. */
static void read_all(const char *text, size_t length, char *seen)
{
	struct glyph g;
	const char *end = text + length;
	*seen = '\0';
	while (glyph_next(&text, end, &g)) {
		strncat(seen, g.text, g.length);
		strcat(seen, g.width == 2 ? ">" : "|");
	}
	cr_assert_eq(text, end);
}

Test(glyph_next, texts)
{
	static const struct {
		const char *text, *seen;
	} cases[] = {
		{"", ""},
		{"ab", "a|b|"},
		{"\xc3\xa9", "\xc3\xa9|"},
		{"e\xcc\x81x", "e\xcc\x81|x|"},
		{"\xcc\x81x", "x|"},
		{"\xe6\xbc\xa2!", "\xe6\xbc\xa2>!|"},
		{"\xf0\x9f\xab\xa9!", "\xf0\x9f\xab\xa9>!|"}, /* U+1FAE9, of Unicode 16 */
		{"a\033[2Jb", "a|[|2|J|b|"},
		{"a\x7f\r\n\tb", "a|b|"},
		{"a\xc2\x9bm", "a|m|"},
		{"a\x9bm\xff", "a|m|"},
		{"\xe2\x80\xae"
		 "a\xe2\x80\x8b\xe2\x80\xa8",
			"a|"},
		{"\xc0\x9b\xe0\x80\x9b"
		 "a",
			"a|"},
		{"\xed\xa0\x80"
		 "a\xf4\x90\x80\x80",
			"a|"},
		{"a\xe6\xbc", "a|"},
		{"\xf3\xa0\x81\x81"
		 "a",
			"a|"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char seen[64];
		read_all(cases[i].text, strlen(cases[i].text), seen);
		cr_expect_str_eq(seen, cases[i].seen, "case %zu: %s", i, seen);
	}
}

Test(glyph_next, excessive_marks_are_dropped)
{
	char text[202] = "e";
	struct glyph g;
	for (size_t i = 1; i + 1 < sizeof text; i += 2)
		memcpy(text + i, "\xcc\x81", 2);
	const char *p = text, *end = text + strlen(text);
	cr_assert(glyph_next(&p, end, &g));
	cr_assert_eq(p, end);
	cr_assert_leq(g.length, GLYPH_BYTES_MAX);
	cr_assert_eq(g.width, 1);
}

Test(glyph_next, no_bytes_give_a_control_character)
{
	srand(1);
	for (unsigned round = 0; round < 20000; round++) {
		char text[12];
		struct glyph g;
		for (size_t i = 0; i < sizeof text; i++)
			text[i] = (char)(rand() >> 8);
		const char *p = text;
		while (glyph_next(&p, text + sizeof text, &g))
			for (unsigned i = 0; i < g.length; i++) {
				unsigned char c = (unsigned char)g.text[i];
				cr_assert(c >= 0x20 && c != 0x7f);
				cr_assert(c != 0xc2 || (unsigned char)g.text[i + 1] >= 0xa0);
			}
	}
}
