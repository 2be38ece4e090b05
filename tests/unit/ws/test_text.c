#include "tests/lib/json_text.h"
#include "ws/text.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(text, .timeout = 60);

#define R "\xef\xbf\xbd"

static const struct {
	const char *in, *want;
} cases[] = {
	{"", ""},
	{"plain", "plain"},
	{"\xc3\xa9", "\xc3\xa9"},
	{"\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80"},
	{"\xff", R},
	{"a\x80"
	 "b",
		"a" R "b"},
	{"\xc3", R},
	{"\xc3\xc3\xa9", R "\xc3\xa9"},
	{"\xe2\x82", R},
	{"\xe2\x82x", R "x"},
	{"\xf0\x9f\x98", R},
	{"\xf0\x9f\x98\xf0\x9f\x98\x80", R "\xf0\x9f\x98\x80"},
	{"\xc0\xaf", R R}, /* overlong */
	{"\xe0\x80\xaf", R R R},
	{"\xed\xa0\x80", R R R},       /* a surrogate */
	{"\xf4\x90\x80\x80", R R R R}, /* beyond the last code point */
	{"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
	{"\xf5\x80", R R},
	{"\xef\xbf\xbd", R},
	{"\xee\x80\x80", "\xee\x80\x80"},
};

/* The text of bytes that come in two pieces. */
static size_t decode(const char *bytes, size_t length, size_t cut, char *dst, struct text_decoder *d)
{
	size_t n = text_decode(d, bytes, cut, dst);
	n += text_decode(d, bytes + cut, length - cut, dst + n);
	return n + text_decode_end(d, dst + n);
}

Test(text, cases_at_every_cut)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t length = strlen(cases[i].in);
		for (size_t cut = 0; cut <= length; cut++) {
			char dst[64];
			struct text_decoder d = {0};
			size_t n = decode(cases[i].in, length, cut, dst, &d);
			cr_expect_eq(n, strlen(cases[i].want), "case %zu at %zu", i, cut);
			cr_expect_eq(memcmp(dst, cases[i].want, n), 0, "case %zu at %zu", i, cut);
			bool replaced = strstr(cases[i].want, R) && strcmp(cases[i].in, R) != 0;
			cr_expect_eq(d.lossy, replaced, "case %zu", i);
		}
	}
}

Test(text, pieces_do_not_split_characters)
{
	struct text_decoder d = {0};
	char dst[TEXT_SIZE(1)];
	cr_expect_eq(text_decode(&d, "\xf0", 1, dst), 0);
	cr_expect_eq(text_decode(&d, "\x9f", 1, dst), 0);
	cr_expect_eq(text_decode(&d, "\x98", 1, dst), 0);
	cr_expect_eq(text_decode(&d, "\x80", 1, dst), 4);
	cr_expect_eq(text_decode_end(&d, dst), 0);
	cr_expect(!d.lossy);
}

Test(text, json_text_keeps_nul_and_holds_back_unfinished_characters)
{
	struct text_decoder d = {0};
	json_t *json = text_json(&d, "a\0\xc3", 3, false);
	cr_expect_eq(json_string_length(json), 2);
	json_decref(json);
	json_expect(text_json(&d, "\xa9", 1, false), "'\xc3\xa9'");
	json_expect(text_json(&d, "\xc3", 1, false), "''");
	json_expect(text_json(&d, "", 0, true), "'" R "'");
	cr_expect(d.lossy);
}
