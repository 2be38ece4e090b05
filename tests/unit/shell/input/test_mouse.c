#include "shell/input/keys.h"
#include "shell/input/mouse.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *encoded(
	struct mouse_event event, enum mouse_protocol mouse, enum mouse_encoding encoding)
{
	static char bytes[MOUSE_BYTES_MAX + 1];
	struct screen_modes modes = {.mouse = mouse, .mouse_encoding = encoding};
	bytes[mouse_encode(&event, &modes, bytes)] = '\0';
	return bytes;
}

/* xterm ctlseqs, Mouse Tracking. */
Test(mouse_encode, what_each_protocol_reports)
{
	static const struct mouse_event press = {MOUSE_PRESS, MOUSE_LEFT, 2, 3, 0};
	static const struct mouse_event release = {MOUSE_RELEASE, MOUSE_LEFT, 2, 3, 0};
	static const struct mouse_event drag = {MOUSE_MOVE, MOUSE_RIGHT, 2, 3, 0};
	static const struct mouse_event move = {MOUSE_MOVE, MOUSE_NO_BUTTON, 2, 3, 0};
	static const struct mouse_event wheel = {MOUSE_SCROLL_DOWN, MOUSE_LEFT, 2, 3, 0};
	static const struct {
		const struct mouse_event *event;
		const char *bytes;
		bool reported[5]; /* by NONE, X10, VT200, DRAG, ANY */
	} cases[] = {{&press, "\033[<0;3;2M", {0, 1, 1, 1, 1}},
		{&release, "\033[<0;3;2m", {0, 0, 1, 1, 1}},
		{&drag, "\033[<34;3;2M", {0, 0, 0, 1, 1}}, {&move, "\033[<35;3;2M", {0, 0, 0, 0, 1}},
		{&wheel, "\033[<65;3;2M", {0, 0, 1, 1, 1}}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int m = MOUSE_NONE; m <= MOUSE_ANY; m++)
			cr_expect_str_eq(encoded(*cases[i].event, (enum mouse_protocol)m, MOUSE_SGR),
				cases[i].reported[m] ? cases[i].bytes : "", "%zu %d", i, m);
}

Test(mouse_encode, default_encoding)
{
	static const struct {
		struct mouse_event event;
		const char *bytes;
	} cases[] = {{{MOUSE_PRESS, MOUSE_LEFT, 1, 1, 0}, "\033[M !!"},
		{{MOUSE_PRESS, MOUSE_MIDDLE, 2, 3, 0}, "\033[M!#\""},
		{{MOUSE_PRESS, MOUSE_RIGHT, 1, 1, KEY_CTRL}, "\033[M2!!"},
		{{MOUSE_RELEASE, MOUSE_RIGHT, 1, 1, KEY_ALT}, "\033[M+!!"},
		{{MOUSE_SCROLL_UP, MOUSE_LEFT, 1, 1, KEY_SHIFT}, "\033[Md!!"},
		{{MOUSE_PRESS, MOUSE_LEFT, 223, 223, 0}, "\033[M \xff\xff"},
		{{MOUSE_PRESS, MOUSE_LEFT, 1, 224, 0}, ""},
		{{MOUSE_PRESS, MOUSE_LEFT, 224, 1, 0}, ""}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_str_eq(encoded(cases[i].event, MOUSE_VT200, MOUSE_DEFAULT),
			cases[i].bytes, "%zu", i);
}

Test(mouse_encode, x10_has_no_modifiers)
{
	cr_expect_str_eq(encoded((struct mouse_event){MOUSE_PRESS, MOUSE_LEFT, 1, 1, KEY_CTRL},
				 MOUSE_X10, MOUSE_DEFAULT),
		"\033[M !!");
}

Test(mouse_encode, sgr_has_no_limit)
{
	cr_expect_str_eq(encoded((struct mouse_event){MOUSE_RELEASE, MOUSE_RIGHT, 1000, 999,
					 KEY_CTRL | KEY_ALT | KEY_SHIFT},
				 MOUSE_ANY, MOUSE_SGR),
		"\033[<30;999;1000m");
}

Test(mouse_is_tracked, pixel_mode_is_not_supported)
{
	cr_expect_not(mouse_is_tracked(&(struct screen_modes){.mouse = MOUSE_NONE}));
	cr_expect(mouse_is_tracked(&(struct screen_modes){.mouse = MOUSE_X10}));
	cr_expect_not(mouse_is_tracked(
		&(struct screen_modes){.mouse = MOUSE_ANY, .mouse_encoding = MOUSE_SGR_PIXELS}));
}
