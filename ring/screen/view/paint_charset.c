/* Charsets of the painted terminal: designated, invoked, or restored by DECRC. */
#include "ring/screen/view/paint.h"

static const struct style plain;

void paint_charset(struct painter *p, char slot, uint8_t final)
{
	const char sequence[3] = {'\033', slot, (char) final};
	output_put(&p->out, sequence, sizeof sequence);
}

void paint_charsets(struct painter *p, bool restored)
{
	static const char slots[] = "()*+";
	static const char *const invoke[] = {"", "\016", "\033n", "\033o"};
	const struct charsets *c = &p->s->charsets;
	for (unsigned i = 0; i < 4; i++) {
		uint8_t final = i == c->level && !restored ? c->current : c->g[i];
		if (final != 'B')
			paint_charset(p, slots[i], final);
	}
	output_text(&p->out, invoke[c->level]);
}

bool paint_restored_charset(struct painter *p)
{
	const struct screen *s = p->s;
	const struct saved_cursor *saved = &s->active->saved;
	bool other = saved->charset != s->charsets.current;
	if (s->charsets.current == s->charsets.g[s->charsets.level])
		return false;
	if (other)
		saved = &s->alternate.saved;
	if (saved->charset != s->charsets.current || (other && screen_is_alternate(s)))
		return false;
	paint_charsets(p, true);
	output_text(&p->out, other ? "\033[?1047h\0338\033[?1047l" : "\0338");
	/* DECRC changed the pen too: reset it to a known one. */
	output_text(&p->out, "\033[m\033[0\"q");
	p->charset = s->charsets.current;
	p->pen = plain;
	return true;
}
