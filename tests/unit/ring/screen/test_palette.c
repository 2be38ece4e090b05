#include "ring/screen/screen_internal.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct example {
	const char *spec;
	bool valid;
	uint32_t want;
};

static const struct example examples[] = {
	{"rgb:12/34/56", true, 0x123456},
	{"rgb:ff/FF/fF", true, 0xffffff},
	{"RGB:1/2/3", true, 0x112233},
	{"rgb:123/456/789", true, 0x124578},
	{"rgb:0000/8000/ffff", true, 0x0080ff},
	{"rgb:f/f/f", true, 0xffffff},
	{"#123", true, 0x102030},
	{"#123456", true, 0x123456},
	{"#123456789", true, 0x124578},
	{"#123456789abc", true, 0x12569a},
	{"#FFF", true, 0xf0f0f0},

	{"", false, 0},
	{"?", false, 0},
	{"red", false, 0},
	{"#", false, 0},
	{"#1", false, 0},
	{"#12", false, 0},
	{"#1234", false, 0},
	{"#12345", false, 0},
	{"#12345g", false, 0},
	{"#1234567890abcdef", false, 0},
	{"rgb", false, 0},
	{"rgb:", false, 0},
	{"rgb://", false, 0},
	{"rgb:1", false, 0},
	{"rgb:1/2", false, 0},
	{"rgb:1/2/", false, 0},
	{"rgb:1/2/3/4", false, 0},
	{"rgb:1/22/3", false, 0},
	{"rgb:12345/12345/12345", false, 0},
	{"rgb:1/2/x", false, 0},
	{"rgb: 1/2/3", false, 0},
	{"rgb:-1/+2/03", false, 0},
	{"rgba:1/2/3", false, 0},
	{"rgbi:0/0/0", false, 0},
};

Test(palette_parse, examples)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const struct example *e = &examples[i];
		uint32_t rgb = 0;
		/* On the heap, so that ASan detects reads beyond the end. */
		size_t length = strlen(e->spec);
		char *spec = malloc(length ? length : 1);
		memcpy(spec, e->spec, length);
		cr_expect_eq(palette_parse(spec, length, &rgb), e->valid, "%s", e->spec);
		if (e->valid)
			cr_expect_eq(rgb, e->want, "%s: %06x", e->spec, rgb);
		free(spec);
	}
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
