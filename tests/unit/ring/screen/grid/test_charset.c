#include "ring/screen/grid/charset.h"

#include <criterion/criterion.h>
#include <string.h>

Test(charset_exists, has_the_sets_of_xterm_js)
{
	const char finals[] = "B04A5C6E7HRQKYZ=";
	for (const char *f = finals; *f; f++)
		cr_expect(charset_exists((uint8_t)*f), "%c", *f);
}

Test(charset_exists, other_bytes_are_no_charset)
{
	const char finals[] = "B04A5C6E7HRQKYZ=";
	for (unsigned f = 0; f < 256; f++)
		if (f == 0 || !strchr(finals, (int)f))
			cr_expect_not(charset_exists((uint8_t)f), "%u", f);
}

Test(charset_map, ascii_changes_nothing)
{
	for (uint32_t code = 0x20; code < 0x7f; code++)
		cr_expect_eq(charset_map('B', code), code);
}

Test(charset_map, line_drawing)
{
	static const struct {
		char ascii;
		uint32_t want;
	} cases[] = {{'q', 0x2500}, {'x', 0x2502}, {'l', 0x250c}, {'j', 0x2518}, {'n', 0x253c},
		{'`', 0x25c6}, {'~', 0xb7}, {'A', 'A'}, {'_', '_'}, {' ', ' '}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(charset_map('0', (uint32_t)cases[i].ascii), cases[i].want, "%c",
			cases[i].ascii);
}

Test(charset_map, british_has_only_its_pound_sign)
{
	for (uint32_t code = 0x20; code < 0x7f; code++)
		cr_expect_eq(charset_map('A', code), code == '#' ? 0xa3 : code);
}

Test(charset_map, national_sets)
{
	static const struct {
		char final, ascii;
		uint32_t want;
	} cases[] = {{'K', '[', 0xc4}, {'K', '~', 0xdf}, {'R', '@', 0xe0}, {'Y', '`', 0xf9},
		{'Z', '\\', 0xd1}, {'4', '~', 0xb4}, {'Q', '^', 0xee}, {'=', '_', 0xe8},
		{'C', ']', 0xc5}, {'E', '\\', 0xd8}, {'H', '@', 0xc9}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(charset_map((uint8_t)cases[i].final, (uint32_t)cases[i].ascii),
			cases[i].want, "%c %c", cases[i].final, cases[i].ascii);
}

Test(charset_map, alternative_name_gives_the_same_set)
{
	const char *const pairs[] = {"5C", "6E", "7H"};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		for (uint32_t code = 0x20; code < 0x7f; code++)
			cr_expect_eq(charset_map((uint8_t)pairs[i][0], code),
				charset_map((uint8_t)pairs[i][1], code));
}

Test(charset_map, only_ascii_is_changed)
{
	cr_expect_eq(charset_map('0', 0xf1), 0xf1);
	cr_expect_eq(charset_map('0', 0x171), 0x171);
	cr_expect_eq(charset_map(0, 'q'), 'q');
}
