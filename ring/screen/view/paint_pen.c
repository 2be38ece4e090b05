/*
 * The pen of the terminal that is painted: which sequences turn it into a style. Nothing is written when it is that
 * already.
 */
#include "ring/screen/view/paint.h"

#include <string.h>

static const struct style plain;

static void put_color(struct output *o, uint32_t color, unsigned base)
{
	uint32_t value = color & COLOR_VALUE;
	switch (color & COLOR_MODE) {
	case COLOR_BASIC:
		output_format(o, ";%u", value < 8 ? base + value : base + 52 + value);
		break;
	case COLOR_INDEXED:
		output_format(o, ";%u;5;%u", base + 8, value);
		break;
	case COLOR_RGB:
		output_format(o, ";%u;2;%u;%u;%u", base + 8, value >> 16, value >> 8 & 0xff,
			value & 0xff);
		break;
	default:
		break;
	}
}

static void put_underline(struct output *o, const struct style *style)
{
	uint32_t value = style->underline_color & COLOR_VALUE;
	if (style->flags & STYLE_UNDERLINE)
		output_format(
			o, style->underline > UNDERLINE_SINGLE ? ";4:%u" : ";4", style->underline);
	if ((style->underline_color & COLOR_MODE) == COLOR_INDEXED)
		output_format(o, ";58:5:%u", value);
	else if ((style->underline_color & COLOR_MODE) == COLOR_RGB)
		output_format(o, ";58:2::%u:%u:%u", value >> 16, value >> 8 & 0xff, value & 0xff);
}

static const struct {
	uint16_t flag;
	const char *sgr;
} flags[] = {{STYLE_BOLD, ";1"}, {STYLE_DIM, ";2"}, {STYLE_ITALIC, ";3"}, {STYLE_BLINK, ";5"},
	{STYLE_INVERSE, ";7"}, {STYLE_CONCEAL, ";8"}, {STYLE_STRIKE, ";9"}, {STYLE_OVERLINE, ";53"}};

/* SGR that turns the default pen, or any, into this style: 0 first, then what it has. */
static void put_sgr(struct output *o, const struct style *style)
{
	output_text(o, "\033[");
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (style->flags & flags[i].flag)
			output_text(o, flags[i].sgr);
	put_underline(o, style);
	put_color(o, style->fg, 30);
	put_color(o, style->bg, 40);
	output_text(o, "m");
}

/* A link without an id of its own gets one, or its parts would become links apart. */
static void put_link(struct painter *p, uint32_t number)
{
	size_t length = 0;
	const char *link = intern_get(&p->s->links, number, &length);
	p->link_bytes += length;
	if (!link) {
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
 * DECRC brings back that there was an underline or a link, but leaves what is kept about them as it is. What
 * comes of it looks like something that SGR makes.
 */
static struct style sound(struct style style)
{
	bool underline = style.flags & STYLE_UNDERLINE, extended = style.flags & STYLE_EXTENDED;
	if (!extended)
		style.link = 0;
	if (underline && !extended)
		style.underline = UNDERLINE_SINGLE;
	else if (!underline)
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

void paint_pen(struct painter *p, const struct style *as_it_is)
{
	const uint16_t drawn = (uint16_t) ~(STYLE_PROTECTED | STYLE_EXTENDED);
	struct style *pen = &p->pen, wanted = sound(*as_it_is);
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
		pen->flags &= (uint16_t)~STYLE_PROTECTED; /* SGR 0 takes it back as well */
	}
	if ((pen->flags ^ style->flags) & STYLE_PROTECTED)
		output_text(&p->out, style->flags & STYLE_PROTECTED ? "\033[1\"q" : "\033[0\"q");
	if (pen->link != style->link)
		put_link(p, style->link);
	*pen = *style;
}

const struct style *paint_style(const struct painter *p, uint32_t number)
{
	const struct style *style = intern_get(&p->s->styles, number, NULL);
	return style ? style : &plain;
}
