/*
 * The pen of the painted terminal: the sequences that change it to a style. Nothing is written if
 * it has that style.
 */
#include "ring/screen/view/paint.h"

#include <string.h>

static const struct style plain;

#define SGR_MAX 15u /* parameters per sequence: some terminals allow only 16 */

/* SGR sequences being written. */
struct sgr {
	struct output *out;
	unsigned count; /* parameters in the current sequence; 0: none begun */
};

/* Write the separator before `count` parameters, or begin a new sequence. */
static void put_next(struct sgr *g, unsigned count)
{
	bool another = g->count == 0 || g->count + count > SGR_MAX;
	output_text(g->out, !another ? ";" : g->count > 0 ? "m\033[" : "\033[");
	g->count = (another ? 0 : g->count) + count;
}

static void end_sgr(struct sgr *g)
{
	output_text(g->out, g->count > 0 ? "m" : "");
	g->count = 0;
}

static void put_color(struct sgr *g, uint32_t color, unsigned base)
{
	uint32_t value = color & COLOR_VALUE;
	switch (color & COLOR_MODE) {
	case COLOR_BASIC:
		put_next(g, 1);
		output_format(g->out, "%u", value < 8 ? base + value : base + 52 + value);
		break;
	case COLOR_INDEXED:
		put_next(g, 3);
		output_format(g->out, "%u;5;%u", base + 8, value);
		break;
	case COLOR_RGB:
		put_next(g, 5);
		output_format(g->out, "%u;2;%u;%u;%u", base + 8, value >> 16, value >> 8 & 0xff,
			value & 0xff);
		break;
	default:
		break;
	}
}

/* Underlines with colons, in sequences of their own: some terminals ignore these entirely. */
static void put_underline(struct output *o, const struct style *style)
{
	uint32_t value = style->underline_color & COLOR_VALUE;
	if (style->flags & STYLE_UNDERLINE && style->underline > UNDERLINE_SINGLE)
		output_format(o, "\033[4:%um", style->underline);
	if ((style->underline_color & COLOR_MODE) == COLOR_INDEXED)
		output_format(o, "\033[58:5:%um", value);
	else if ((style->underline_color & COLOR_MODE) == COLOR_RGB)
		output_format(
			o, "\033[58:2::%u:%u:%um", value >> 16, value >> 8 & 0xff, value & 0xff);
}

static const struct {
	uint16_t flag;
	const char *sgr;
} flags[] = {{STYLE_BOLD, "1"}, {STYLE_DIM, "2"}, {STYLE_ITALIC, "3"}, {STYLE_UNDERLINE, "4"},
	{STYLE_BLINK, "5"}, {STYLE_INVERSE, "7"}, {STYLE_CONCEAL, "8"}, {STYLE_STRIKE, "9"},
	{STYLE_OVERLINE, "53"}};

static void put_flags(struct sgr *g, uint16_t which)
{
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (which & flags[i].flag) {
			put_next(g, 1);
			output_text(g->out, flags[i].sgr);
		}
}

/* Write SGR for a style, beginning with 0. */
static void put_sgr(struct output *o, const struct style *style)
{
	struct sgr g = {.out = o, .count = 1};
	output_text(o, "\033[");
	put_flags(&g, style->flags);
	put_color(&g, style->fg, 30);
	put_color(&g, style->bg, 40);
	end_sgr(&g);
	put_underline(o, style);
}

/* A link without an id gets one, otherwise its parts would become separate links. */
static void put_link(struct painter *p, uint32_t number)
{
	size_t length = 0;
	const char *link = intern_get(&p->s->links, number, &length);
	p->link_bytes += length;
	if (!link || *link == 'p') { /* an image */
		output_text(&p->out, "\033]8;;\033\\");
		return;
	}
	if (*link == 'i') {
		size_t id = strlen(link + 1);
		output_text(&p->out, "\033]8;id=");
		output_put(&p->out, link + 1, id);
		output_text(&p->out, ";");
		output_put(&p->out, link + id + 2, length - id - 2);
	} else {
		uint64_t id;
		memcpy(&id, link + 1, sizeof id);
		output_format(&p->out, "\033]8;id=ringside-%llu;", (unsigned long long)id);
		output_put(&p->out, link + 2 + sizeof id, length - 2 - sizeof id);
	}
	output_text(&p->out, "\033\\");
}

/*
 * DECRC restores the flags for underline and link but not their details. Returns the nearest style
 * that SGR can produce.
 */
static struct style normalize_style(struct style style)
{
	bool underline = style.flags & STYLE_UNDERLINE, extended = style.flags & STYLE_EXTENDED;
	if (!extended)
		style.link = 0;
	if (underline && !extended) {
		style.underline = UNDERLINE_SINGLE;
		style.underline_color = 0;
	}
	if (!underline)
		style.underline = UNDERLINE_NONE;
	else if (style.underline == UNDERLINE_NONE && style.link != 0)
		style.underline = UNDERLINE_SINGLE;
	style.flags &= (uint16_t) ~(STYLE_UNDERLINE | STYLE_EXTENDED);
	if (style.underline != UNDERLINE_NONE)
		style.flags |= STYLE_UNDERLINE;
	if (style.underline != UNDERLINE_NONE || style.link != 0)
		style.flags |= STYLE_EXTENDED;
	return style;
}

void paint_pen(struct painter *p, const struct style *raw)
{
	const uint16_t drawn = (uint16_t) ~(STYLE_PROTECTED | STYLE_EXTENDED);
	struct style *pen = &p->pen, wanted = normalize_style(*raw);
	const struct style *style = &wanted;
	if (wanted.link != pen->link && p->link_bytes > PAINT_LINKS_MAX) {
		wanted.link = 0;
		if (wanted.underline == UNDERLINE_NONE)
			wanted.flags &= (uint16_t)~STYLE_EXTENDED;
	}
	if (memcmp(pen, style, sizeof *pen) == 0)
		return;
	bool same = pen->fg == style->fg && pen->bg == style->bg &&
		pen->underline_color == style->underline_color &&
		pen->underline == style->underline && (pen->flags & drawn) == (style->flags & drawn);
	if (!same) {
		put_sgr(&p->out, style);
		pen->flags &= (uint16_t)~STYLE_PROTECTED; /* SGR 0 resets it too */
	}
	if ((pen->flags ^ style->flags) & STYLE_PROTECTED)
		output_text(&p->out, style->flags & STYLE_PROTECTED ? "\033[1\"q" : "\033[0\"q");
	if (pen->link != style->link)
		put_link(p, style->link);
	*pen = *style;
}

/* Whether the extended flag matches the details, as it does after the end of a link. */
static bool is_consistent(const struct style *style)
{
	bool any = style->underline != UNDERLINE_NONE || style->link != 0;
	return any == ((style->flags & STYLE_EXTENDED) != 0);
}

/* Find a DECSC slot with the flags of the pen. The end of a link recomputes the extended flag. */
static const struct saved_cursor *slot_of(const struct screen *s)
{
	const struct saved_cursor *slots[] = {&s->active->saved, &s->alternate.saved};
	uint16_t marks = STYLE_UNDERLINE | STYLE_EXTENDED;
	if (is_consistent(&s->pen))
		marks = STYLE_UNDERLINE;
	for (unsigned i = 0; i < (screen_is_alternate(s) ? 1 : 2); i++)
		if (((slots[i]->flags ^ s->pen.flags) & marks) == 0)
			return slots[i];
	return NULL;
}

bool paint_restored_pen(struct painter *p)
{
	const struct screen *s = p->s;
	struct style usual = normalize_style(s->pen),
		     kept = {.underline = s->pen.underline,
			     .underline_color = s->pen.underline_color,
			     .link = s->pen.link};
	const struct saved_cursor *slot = slot_of(s);
	if (memcmp(&usual, &s->pen, sizeof usual) == 0 || !slot)
		return false;
	kept.flags = (uint16_t)((kept.underline ? STYLE_UNDERLINE : 0) |
		(kept.underline || kept.link ? STYLE_EXTENDED : 0));
	paint_pen(p, &kept);
	output_text(&p->out, slot == &s->active->saved ? "\0338" : "\033[?1047h\0338\033[?1047l");
	output_text(&p->out, slot->origin ? "\033[?6l" : "");
	output_text(&p->out, slot->wraparound ? "" : "\033[?7h");
	paint_default_charsets(p, &slot->charsets);
	if (is_consistent(&s->pen))
		put_link(p, s->pen.link);
	/* Set everything but underlines and links. */
	struct sgr g = {.out = &p->out, .count = 9};
	output_text(&p->out, "\033[22;23;25;27;28;29;55;39;49");
	put_flags(&g, s->pen.flags & (uint16_t)~STYLE_UNDERLINE);
	put_color(&g, s->pen.fg, 30);
	put_color(&g, s->pen.bg, 40);
	end_sgr(&g);
	output_text(&p->out, s->pen.flags & STYLE_PROTECTED ? "\033[1\"q" : "\033[0\"q");
	p->pen = s->pen;
	return true;
}

const struct style *paint_style(const struct painter *p, uint32_t number)
{
	const struct style *style = intern_get(&p->s->styles, number, NULL);
	return style && !(style->flags & STYLE_IMAGE) ? style : &plain;
}
