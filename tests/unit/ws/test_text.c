#include "tests/lib/random.h"
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

Test(text, any_bytes_give_valid_text_of_bounded_size)
{
	struct random r = {9};
	for (int round = 0; round < 20000; round++) {
		static const char likely[] = "a\x80\x9f\xa0\xbf\xc2\xe0\xe2\xed\xf0\xf4\xff";
		char in[12], dst[TEXT_SIZE(12) + 3];
		size_t length = random_below(&r, sizeof in + 1);
		for (size_t i = 0; i < length; i++)
			in[i] = likely[random_below(&r, sizeof likely)];
		struct text_decoder d = {0}, pieces = {0};
		size_t n = text_decode(&d, in, length, dst);
		cr_assert_leq(n, TEXT_SIZE(length));
		n += text_decode_end(&d, dst + n);
		json_t *json = json_stringn(dst, n); /* checks UTF-8 */
		cr_assert_not_null(json);
		json_t *other = text_json(&pieces, in, length, true);
		cr_assert(json_equal(json, other));
		cr_assert_eq(d.lossy, pieces.lossy);
		json_decref(json);
		json_decref(other);
	}
}

Test(text, json_text_keeps_nul_and_holds_back_unfinished_characters)
{
	struct text_decoder d = {0};
	json_t *json = text_json(&d, "a\0\xc3", 3, false);
	cr_expect_eq(json_string_length(json), 2);
	json_decref(json);
	json = text_json(&d, "\xa9", 1, false);
	cr_expect_str_eq(json_string_value(json), "\xc3\xa9");
	json_decref(json);
	json = text_json(&d, "\xc3", 1, false);
	cr_expect_str_eq(json_string_value(json), "");
	json_decref(json);
	json = text_json(&d, "", 0, true);
	cr_expect_str_eq(json_string_value(json), R);
	json_decref(json);
	cr_expect(d.lossy);
}
