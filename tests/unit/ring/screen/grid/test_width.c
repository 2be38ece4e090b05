#include "ring/screen/grid/width.h"

#include <criterion/criterion.h>

/* Widths that must never change. tests/integration compares every code point with the page and with wcwidth(). */
struct example {
	const char *name;
	uint32_t first, last;
	unsigned want;
};

static const struct example examples[] = {
	{"controls", 0, 0x1f, 0},
	{"ASCII", 0x20, 0x7e, 1},
	{"soft hyphen", 0xad, 0xad, 1},
	{"DEL and C1", 0x7f, 0x9f, 0},
	{"Latin", 0xa0, 0x2ff, 1},
	{"combining diacritics", 0x300, 0x36f, 0},
	{"Greek", 0x370, 0x3ff, 1},
	{"Hangul leads", 0x1100, 0x115f, 2},
	{"Hangul vowels and tails", 0x1160, 0x11ff, 0},
	{"Arabic signs before a number", 0x600, 0x605, 1},
	{"spacing marks of Devanagari", 0x93e, 0x940, 1},
	{"zero width space and joiners", 0x200b, 0x200f, 0},
	{"dashes and quotes", 0x2010, 0x2027, 1},
	{"box drawing", 0x2500, 0x257f, 1},
	{"watch and hourglass", 0x231a, 0x231b, 2},
	{"hexagrams, since Unicode 16", 0x4dc0, 0x4dff, 2},
	{"trigrams, since Unicode 16", 0x2630, 0x2637, 2},
	{"ambiguous: a heart without a selector", 0x2764, 0x2764, 1},
	{"circled numbers on black squares", 0x3248, 0x324f, 2},
	{"ideographic space", 0x3000, 0x3000, 2},
	{"Hiragana", 0x3041, 0x3096, 2},
	{"CJK", 0x4e00, 0x9fff, 2},
	{"Hangul syllables", 0xac00, 0xd7a3, 2},
	{"old Hangul vowels", 0xd7b0, 0xd7c6, 0},
	{"private use", 0xe000, 0xf8ff, 1},
	{"variation selectors", 0xfe00, 0xfe0f, 0},
	{"BOM", 0xfeff, 0xfeff, 0},
	{"full width forms", 0xff01, 0xff60, 2},
	{"half width forms", 0xff61, 0xffdc, 1},
	{"faces", 0x1f600, 0x1f64f, 2},
	{"regional indicators", 0x1f1e6, 0x1f1ff, 1},
	{"mechanical arm of Unicode 12", 0x1f9be, 0x1f9be, 2},
	{"melting face of Unicode 14", 0x1fae0, 0x1fae0, 2},
	{"fingerprint of Unicode 16", 0x1fac6, 0x1fac6, 2},
	{"a picture after Unicode 16", 0x1faea, 0x1faea, 1},
	{"CJK of plane 2", 0x20000, 0x2fffd, 2},
	{"CJK of plane 3", 0x30000, 0x3fffd, 2},
	{"tags", 0xe0020, 0xe007f, 0},
	{"more variation selectors", 0xe0100, 0xe01ef, 0},
	{"the last one", 0x10ffff, 0x10ffff, 1},
};

Test(width_of, examples)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		for (uint32_t code = examples[i].first; code <= examples[i].last; code++)
			cr_expect_eq(width_of(code), examples[i].want, "%s, U+%04x: %u",
				examples[i].name, code, width_of(code));
}

Test(width_of, is_at_most_two)
{
	unsigned most = 0;
	for (uint32_t code = 0; code <= 0x10ffff; code++)
		most = width_of(code) > most ? width_of(code) : most;
	cr_assert_eq(most, 2);
}

Test(width_of, beyond_unicode_is_one)
{
	cr_expect_eq(width_of(0x110000), 1);
	cr_expect_eq(width_of(UINT32_MAX), 1);
}
