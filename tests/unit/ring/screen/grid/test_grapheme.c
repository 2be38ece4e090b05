#include "ring/screen/grid/grapheme.h"

#include <criterion/criterion.h>

/* Examples of code points that share a cell. tests/integration compares every code point with the page. */
struct example {
	const char *name;
	uint32_t codes[8];    /* terminated by 0 */
	const char *clusters; /* columns of each cluster once it is complete */
};

static const struct example examples[] = {
	{"letters", {'a', 'b'}, "11"},
	{"a letter with two marks", {'e', 0x301, 0x302, 'x'}, "11"},
	{"a mark alone", {0x301, 'a'}, "11"},
	{"a wide one with a mark", {0x4e16, 0x301}, "2"},
	{"a picture as text, and as such", {0x2764, 0x2764, 0xfe0f, 0x2764, 0xfe0e}, "121"},
	{"a letter with the selector for pictures", {'a', 0xfe0f}, "2"},
	{"a keycap", {'1', 0xfe0f, 0x20e3}, "2"},
	{"flags and half of one", {0x1f1e9, 0x1f1ea, 0x1f1eb, 0x1f1f7, 0x1f1e9}, "221"},
	{"a skin", {0x1f44d, 0x1f3fd, 0x1f44d}, "22"},
	{"a family", {0x1f468, 0x200d, 0x1f469, 0x200d, 0x1f467}, "2"},
	{"a joiner before a letter", {0x1f468, 0x200d, 'a'}, "21"},
	{"a joiner alone", {0x200d, 0x1f468}, "2"},
	{"Hangul in parts", {0x1100, 0x1161, 0x11a8, 0x1100}, "22"},
	{"Hangul syllables", {0xac00, 0x11a8, 0xac01, 0x11a8, 0xac00, 0x1161}, "222"},
	{"a tail after a syllable that has one by a vowel", {0xac01, 0x1161}, "21"},
	{"a conjunct of Devanagari with a vowel", {0x915, 0x94d, 0x937, 0x93f}, "1"},
	{"a conjunct of three, and another letter", {0x938, 0x94d, 0x924, 0x94d, 0x930, 0x915}, "11"},
	{"a conjunct with a joiner", {0x915, 0x94d, 0x200d, 0x937}, "1"},
	{"one with nukta and a joiner before the linker", {0x915, 0x93c, 0x200d, 0x94d, 0x924}, "1"},
	{"no conjunct after a non-joiner", {0x915, 0x94d, 0x200c, 0x937}, "11"},
	{"nor after a vowel", {0x915, 0x94d, 0x93f, 0x937}, "11"},
	{"nor without a linker", {0x915, 0x93c, 0x937}, "11"},
	{"nor without a consonant before", {'a', 0x94d, 0x937}, "11"},
	{"nor with a latin letter", {0x915, 0x94d, 'a'}, "11"},
	{"nor with the virama of Tamil", {0xb95, 0xbcd, 0xbb7}, "11"},
	{"a joiner of a conjunct before a picture", {0x915, 0x94d, 0x200d, 0x1f468}, "2"},
	{"Thai AM", {0xe01, 0xe33}, "1"},
	{"a sign in front", {0x600, '1', '2'}, "11"},
	{"a sign before half a flag", {0x600, 0x1f1e9, 0x1f1ea}, "21"},
	{"faces of Unicode 14 and 16", {0x1fae0, 0x1fae9}, "22"},
	{"a picture after Unicode 16", {0x1faea}, "1"},
	{"beyond Unicode", {0x110000, 0xffffffff}, "11"},
};

Test(grapheme_next, examples)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		char clusters[9] = "";
		size_t count = 0;
		struct grapheme g = {0};
		for (const uint32_t *code = examples[i].codes; *code; code++) {
			g = grapheme_next(g, *code);
			count += !g.joins;
			clusters[count - 1] = (char)('0' + g.width);
		}
		cr_expect_str_eq(
			clusters, examples[i].clusters, "%s: %s", examples[i].name, clusters);
	}
}
