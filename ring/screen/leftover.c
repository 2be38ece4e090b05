/* Sequences that move the cursor are followed by one that restores it. */
#include "ring/screen/leftover.h"

#include "ring/screen/screen_internal.h"

#include <stdio.h>

static unsigned flag(bool set, enum leftover which)
{
	return set ? (unsigned)which : 0;
}

static bool has_charset(const struct screen *s)
{
	return screen_charset(s) != 'B' || s->charsets.level != 0 || s->charsets.g[0] != 'B';
}

unsigned leftover_find(const struct screen *s)
{
	static const struct style plain;
	const struct screen_modes *m = &s->modes;
	const struct buffer *b = s->active;
	bool drawn = !style_equals(&s->pen, &plain) && !style_equals(&s->pen, &s->prompt_pen);
	/* Leaving the alternate screen restores these two from what was saved before. */
	bool alternate = screen_is_alternate(s);
	bool origin = alternate ? s->primary.saved.origin : m->origin;
	bool wraparound = m->wraparound && (!alternate || s->primary.saved.wraparound);
	return flag(m->mouse != MOUSE_NONE || m->mouse_encoding != MOUSE_DEFAULT, LEFTOVER_MOUSE) |
		flag(m->focus || m->color_scheme || m->synchronized_output, LEFTOVER_REPORTS) |
		flag(m->application_cursor || m->application_keypad || m->modify_other_keys ||
				m->kitty_flags || s->primary.kitty.count > 0 ||
				(alternate && s->primary.kitty.flags),
			LEFTOVER_KEYS) |
		flag(!alternate && (s->alternate.kitty.flags || s->alternate.kitty.count > 0),
			LEFTOVER_OTHER_KEYS) |
		flag(drawn || has_charset(s), LEFTOVER_PEN) |
		flag(m->insert || !wraparound || m->cursor_hidden, LEFTOVER_TEXT) |
		flag(b->top != 0 || b->bottom != s->rows - 1, LEFTOVER_REGION) |
		flag(origin, LEFTOVER_ORIGIN) | flag(alternate, LEFTOVER_ALTERNATE);
}

size_t leftover_undo(unsigned leftovers, unsigned row, char ret_bytes[LEFTOVER_UNDO_MAX])
{
	static const struct {
		enum leftover which;
		const char *bytes;
	} undo[] = {
		/* First: these move the cursor. */
		{LEFTOVER_ALTERNATE, "\033[<32u\033[=0u\033[?6l\033[?1049l"},
		{LEFTOVER_OTHER_KEYS, "\033[?1047h\033[<32u\033[=0u\033[?1047l"},
		{LEFTOVER_REGION, "\0337\033[r\0338"},
		{LEFTOVER_MOUSE, "\033[?9;1000;1002;1003;1005;1006;1015;1016l"},
		{LEFTOVER_REPORTS, "\033[?1004;2026;2031l"},
		{LEFTOVER_KEYS, "\033[?1l\033>\033[>4m\033[<32u\033[=0u"},
		{LEFTOVER_PEN, "\033[m\033(B\017"},
		{LEFTOVER_TEXT, "\033[4l\033[?7;25h"},
	};
	char place[32] = "";
	size_t length = 0;
	if (leftovers & LEFTOVER_ALTERNATE)
		leftovers |= LEFTOVER_PEN; /* DECRC restores a pen with the cursor */
	for (size_t i = 0; i < sizeof undo / sizeof *undo; i++)
		if (leftovers & undo[i].which)
			for (const char *at = undo[i].bytes; *at; at++)
				ret_bytes[length++] = *at;
	if (leftovers & LEFTOVER_ORIGIN)
		snprintf(place, sizeof place, "\033[?6l\033[%u;1H\0337", row);
	for (const char *at = place; *at; at++)
		ret_bytes[length++] = *at;
	return length;
}
