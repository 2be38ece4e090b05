/* Charsets of the painted terminal. */
#include "ring/screen/view/paint.h"

static void designate(struct painter *p, unsigned slot, uint8_t final)
{
	static const char slots[] = "()*+";
	const char sequence[3] = {'\033', slots[slot], (char) final};
	output_put(&p->out, sequence, sizeof sequence);
}

void paint_charsets(struct painter *p, const struct charsets *c)
{
	static const char *const invoke[] = {"", "\016", "\033n", "\033o"};
	for (unsigned i = 0; i < c->designated; i++)
		if (c->g[i] != 'B' || i + 1u == c->designated)
			designate(p, i, c->g[i]);
	output_text(&p->out, invoke[c->level]);
}

void paint_default_charsets(struct painter *p, const struct charsets *c)
{
	for (unsigned i = 0; i < c->designated; i++)
		if (c->g[i] != 'B')
			designate(p, i, 'B');
	output_text(&p->out, c->level > 0 ? "\017" : "");
}
