#include "ring/screen/screen_internal.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *spec;
	uint32_t want;
} valid[] = {
	{"rgb:12/34/56", 0x123456},
	{"rgb:ff/FF/fF", 0xffffff},
	{"RGB:1/2/3", 0x112233},
	{"rgb:123/456/789", 0x124578},
	{"rgb:0000/8000/ffff", 0x0080ff},
	{"rgb:f/f/f", 0xffffff},
	{"#123", 0x102030},
	{"#123456", 0x123456},
	{"#123456789", 0x124578},
	{"#123456789abc", 0x12569a},
	{"#FFF", 0xf0f0f0},
};

static const char *const invalid[] = {"?", "", "red", "#", "#1", "#12", "#1234", "#12345",
	"#12345g", "#1234567890abcdef", "rgb", "rgb:", "rgb://", "rgb:1", "rgb:1/2", "rgb:1/2/",
	"rgb:1/2/3/4", "rgb:1/22/3", "rgb:12345/12345/12345", "rgb:1/2/x", "rgb: 1/2/3",
	"rgb:-1/+2/03", "rgba:1/2/3", "rgbi:0/0/0"};

static bool parse(const char *spec, uint32_t *ret_rgb)
{
	/* On the heap, so that ASan detects reads beyond the end. */
	size_t length = strlen(spec);
	char *copy = malloc(length ? length : 1);
	memcpy(copy, spec, length);
	bool ok = palette_parse(copy, length, ret_rgb);
	free(copy);
	return ok;
}

Test(palette_parse, examples)
{
	uint32_t rgb = 0;
	for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
		cr_expect(parse(valid[i].spec, &rgb), "%s", valid[i].spec);
		cr_expect_eq(rgb, valid[i].want, "%s: %06x", valid[i].spec, rgb);
	}
	for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
		cr_expect_not(parse(invalid[i], &rgb), "%s", invalid[i]);
}

Test(palette_get, cube_and_greys_are_those_of_xterm)
{
	const struct palette p = {0};
	static const struct {
		unsigned index;
		uint32_t want;
	} cases[] = {{16, 0x000000}, {21, 0x0000ff}, {46, 0x00ff00}, {196, 0xff0000},
		{231, 0xffffff}, {110, 0x87afd7}, {232, 0x080808}, {255, 0xeeeeee}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(palette_get(&p, cases[i].index), cases[i].want, "%u", cases[i].index);
}

Test(palette_set, returns_the_colour_that_was_set)
{
	struct palette p = {0};
	uint32_t before = palette_get(&p, 2);
	cr_assert(palette_set(&p, 1, 0));
	cr_assert(palette_set(&p, 255, 0xabcdef));
	cr_expect_eq(palette_get(&p, 1), 0, "black counts as set");
	cr_expect_eq(palette_get(&p, 255), 0xabcdef);
	cr_expect_eq(palette_get(&p, 2), before);
	palette_restore(&p, -1);
}

Test(palette_restore, one_colour)
{
	struct palette p = {0};
	uint32_t before = palette_get(&p, 1);
	palette_set(&p, 1, 0x010203);
	palette_set(&p, 3, 0x010203);
	palette_restore(&p, 1);
	cr_expect_eq(palette_get(&p, 1), before);
	cr_expect_eq(palette_get(&p, 3), 0x010203);
	palette_restore(&p, -1);
}

Test(palette_restore, all_colours)
{
	struct palette p = {0};
	uint32_t before = palette_get(&p, 1);
	palette_set(&p, 1, 0x010203);
	palette_restore(&p, -1);
	cr_expect_eq(palette_get(&p, 1), before);
	cr_expect_null(p.indexed, "the memory is freed");
	palette_restore(&p, -1);
	palette_restore(&p, 7);
}

Test(palette_dynamic, is_set_or_from_the_theme)
{
	struct palette p = {0};
	uint32_t theme = palette_dynamic(&p, 1);
	p.dynamic[1] = 0xff000000;
	cr_expect_eq(palette_dynamic(&p, 1), 0);
	p.dynamic[1] = 0;
	cr_expect_eq(palette_dynamic(&p, 1), theme);
}
