/* UTF-8: which bytes are characters, and where text may be cut. */
#include "ring/utf8.h"

#include <criterion/criterion.h>
#include <string.h>

static unsigned decode(const char *text, uint32_t *ret_code)
{
	return utf8_decode((const uint8_t *)text, strlen(text), ret_code);
}

Test(utf8_decode, characters_of_each_size)
{
	static const struct {
		const char *text;
		unsigned size;
		uint32_t code;
	} cases[] = {
		{"a", 1, 'a'},
		{"\x7f", 1, 0x7f},
		{"\xc2\x80", 2, 0x80},
		{"\xdf\xbf", 2, 0x7ff},
		{"\xe0\xa0\x80", 3, 0x800},
		{"\xed\x9f\xbf", 3, 0xd7ff},
		{"\xee\x80\x80", 3, 0xe000},
		{"\xef\xbf\xbf", 3, 0xffff},
		{"\xf0\x90\x80\x80", 4, 0x10000},
		{"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
		{"\xc3\xa9\xa9", 2, 0xe9},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t code = 0;
		cr_expect_eq(decode(cases[i].text, &code), cases[i].size, "%zu", i);
		cr_expect_eq(code, cases[i].code, "%zu", i);
	}
}

Test(utf8_decode, invalid_bytes)
{
	static const char *const cases[] = {"", "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3",
		"\xc3z", "\xe0\x9f\xbf", "\xe2\x82", "\xe2\x82z", "\xed\xa0\x80", "\xed\xbf\xbf",
		"\xf0\x8f\xbf\xbf", "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
		"\xf8\x88\x80\x80\x80", "\xff"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t code = 7;
		cr_expect_eq(decode(cases[i], &code), 0, "%zu", i);
		cr_expect_eq(code, 7, "%zu", i);
		cr_expect_not(cases[i][0] && utf8_is_valid_string(cases[i]), "%zu", i);
	}
}

Test(utf8_decode, terminated_text_needs_no_length)
{
	uint32_t code;
	cr_expect_eq(utf8_decode((const uint8_t *)"\xf0\x9f", UTF8_MAX, &code), 0);
	cr_expect_eq(utf8_decode((const uint8_t *)"\xf0\x9f\x98\x80", UTF8_MAX, &code), 4);
	cr_expect_eq(code, 0x1f600);
}

Test(utf8_encode, every_code_point_comes_back)
{
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		uint8_t bytes[UTF8_MAX];
		uint32_t checked = 1, trusted = 1;
		unsigned size = utf8_encode(code, bytes);
		bool surrogate = code >= 0xd800 && code <= 0xdfff;
		cr_assert_eq(size, utf8_size(code));
		cr_assert_eq(size, utf8_lead_length(bytes[0]));
		cr_assert_eq(utf8_decode(bytes, size, &checked), surrogate ? 0 : size, "%x", code);
		cr_assert_eq(utf8_read(bytes, &trusted), size);
		cr_assert_eq(trusted, code);
		cr_assert(surrogate || checked == code);
	}
}

Test(utf8_lead_length, depends_on_the_lead_byte_alone)
{
	cr_expect_eq(utf8_lead_length(0xc0), 2);
	cr_expect_eq(utf8_lead_length(0xf7), 4);
	cr_expect_eq(utf8_lead_length(0xf8), 0);
	cr_expect_eq(utf8_lead_length(0xbf), 0);
}

Test(utf8_continues, bounds_of_the_second_byte)
{
	static const struct {
		uint8_t lead, least, most;
	} cases[] = {{0xc2, 0x80, 0xbf}, {0xdf, 0x80, 0xbf}, {0xe0, 0xa0, 0xbf}, {0xe1, 0x80, 0xbf},
		{0xed, 0x80, 0x9f}, {0xef, 0x80, 0xbf}, {0xf0, 0x90, 0xbf}, {0xf3, 0x80, 0xbf},
		{0xf4, 0x80, 0x8f}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_expect(utf8_continues(NULL, 0, cases[i].lead));
		for (unsigned byte = 0; byte < 256; byte++)
			cr_expect_eq(utf8_continues(&cases[i].lead, 1, (uint8_t)byte),
				byte >= cases[i].least && byte <= cases[i].most, "%x %x",
				cases[i].lead, byte);
	}
	cr_expect_not(utf8_continues(NULL, 0, 0x80));
	cr_expect_not(utf8_continues(NULL, 0, 0xc1));
	cr_expect_not(utf8_continues(NULL, 0, 0xf5));
	cr_expect_not(utf8_continues((const uint8_t *)"\xc3\xa9", 2, 0x80));
	cr_expect(utf8_continues((const uint8_t *)"\xe0\xa0", 2, 0x80));
}

Test(utf8_is_valid, nul_is_valid)
{
	cr_expect(utf8_is_valid("", 0));
	cr_expect(utf8_is_valid("a\0\xc3\xa9", 4));
	cr_expect_not(utf8_is_valid("a\0\xc3", 3));
	cr_expect_not(utf8_is_valid("\xc3\xa9", 1));
	cr_expect(utf8_is_valid_string("gr\xc3\xbc\xc3\x9f"));
}

Test(utf8_is_clean, rejects_control_characters)
{
	static const struct {
		const char *text;
		bool clean;
	} cases[] = {{"", true}, {"a \xc3\xa9\xf0\x9f\x98\x80", true}, {"a\n", false},
		{"\x7f", false}, {"\xc2\x80", false}, {"\xc2\x9f", false}, {"\xc2\xa0", true},
		{"\xff", false}, {"\xc3", false}, {"\xed\xa0\x80", false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(utf8_is_clean((const uint8_t *)cases[i].text, strlen(cases[i].text)),
			cases[i].clean, "%zu", i);
}

Test(utf8_cut, between_characters)
{
	static const char text[] = "a\xc3\xa9\xf0\x9f\x98\x80z"; /* boundaries at 0, 1, 3, 7, 8 */
	static const size_t want[] = {0, 1, 1, 3, 3, 3, 3, 7, 8, 8};
	for (size_t max = 0; max < sizeof want / sizeof *want; max++)
		cr_expect_eq(utf8_cut(text, 8, max), want[max], "%zu", max);
	cr_expect_eq(utf8_cut("\x80\x80\x80", 3, 2), 0);
}

Test(utf8_leading_continuations, rest_of_a_split_character)
{
	cr_expect_eq(utf8_leading_continuations("ab", 2, 3), 0);
	cr_expect_eq(utf8_leading_continuations("\xa9z", 2, 3), 1);
	cr_expect_eq(utf8_leading_continuations("\x9f\x98\x80z", 4, 3), 3);
	cr_expect_eq(utf8_leading_continuations("\x80\x80\x80\x80", 4, 3), 3);
	cr_expect_eq(utf8_leading_continuations("\x80\x80\x80\x80", 4, SIZE_MAX), 4);
	cr_expect_eq(utf8_leading_continuations("", 0, 3), 0);
}

Test(utf8_incomplete, beginning_of_a_split_character)
{
	cr_expect_eq(utf8_incomplete("ab", 2), 0);
	cr_expect_eq(utf8_incomplete("a\xc3", 2), 1);
	cr_expect_eq(utf8_incomplete("a\xc3\xa9", 3), 0);
	cr_expect_eq(utf8_incomplete("\xf0\x9f\x98", 3), 3);
	cr_expect_eq(utf8_incomplete("\xf0\x9f\x98\x80", 4), 0);
	cr_expect_eq(utf8_incomplete("\xe0\x80", 2), 0, "no character begins so");
	cr_expect_eq(utf8_incomplete("\xc0", 1), 0, "no character begins so");
	cr_expect_eq(utf8_incomplete("\x80\x80\x80\x80", 4), 0);
	cr_expect_eq(utf8_incomplete("", 0), 0);
}
