/*
 * Tracks the open <span> and <a>, which are closed and reopened when the style changes. Unsafe
 * links become plain text. Allocation failures only set the output's `failed`.
 */
#include "ring/screen/view/html.h"

#include "ring/screen/view/render.h"

#include <string.h>
#include <strings.h>

static const struct style plain;

void html_text(struct output *o, const char *text, size_t length)
{
	static const char *const entities[256] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
	size_t start = 0;
	for (size_t i = 0; i < length; i++) {
		const char *entity = entities[(uint8_t)text[i]];
		if (!entity)
			continue;
		output_put(o, text + start, i - start);
		output_text(o, entity);
		start = i + 1;
	}
	output_put(o, text + start, length - start);
}

/* Links */

const char *html_uri(const struct screen *s, uint32_t link, size_t *ret_length)
{
	size_t length = 0;
	const char *text = link ? intern_get(&s->links, link, &length) : NULL;
	if (!text || *text == 'p')
		return NULL;
	/* A kind, the id, NUL, the URI; see osc.c. */
	size_t id = *text == 'i' ? strlen(text + 1) : sizeof s->next_link;
	*ret_length = length - id - 2;
	return text + id + 2;
}

/* Whether a link is safe: it cannot run code or read files, and shows where it leads. */
static bool is_safe_uri(const char *uri, size_t length)
{
	static const char *const schemes[] = {"http://", "https://", "mailto:"};
	bool known = false;
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
		size_t size = strlen(schemes[i]);
		known = known || (length > size && strncasecmp(uri, schemes[i], size) == 0);
	}
	for (size_t i = 0; known && i < length; i++)
		known = (uint8_t)uri[i] > ' ' && (uint8_t)uri[i] != 0x7f;
	return known && length <= RENDER_HTML_LINK_MAX;
}

static void close_span(struct html *h, struct output *o)
{
	if (h->in_span)
		output_text(o, "</span>");
	h->in_span = false;
}

static void change_link(struct html *h, struct output *o, uint32_t link)
{
	size_t length = 0;
	if (h->link)
		output_text(o, "</a>");
	h->link = 0;
	const char *uri = html_uri(h->s, link, &length);
	if (!uri || !is_safe_uri(uri, length))
		return;
	output_text(o, "<a rel=\"noopener noreferrer\" href=\"");
	html_text(o, uri, length);
	output_text(o, "\">");
	h->link = link;
}

/* Styles */

/* The same HTML for all: with the page's dark theme, whatever the clients use. */
static struct palette palette_of(const struct screen *s)
{
	struct palette palette = s->palette;
	palette.theme = theme_default;
	return palette;
}

static uint32_t indexed_color(const struct screen *s, unsigned index)
{
	const struct palette palette = palette_of(s);
	return palette_get(&palette, index);
}

static uint32_t dynamic_color(const struct screen *s, unsigned which)
{
	const struct palette palette = palette_of(s);
	return palette_dynamic(&palette, which);
}

/* bold: xterm.js draws bold text in the bright variants of the first eight colours. */
static uint32_t resolve(const struct screen *s, uint32_t color, unsigned dynamic, bool bold)
{
	uint32_t value = color & COLOR_VALUE;
	switch (color & COLOR_MODE) {
	case COLOR_BASIC:
	case COLOR_INDEXED:
		return indexed_color(s, bold && value < 8 ? value + 8 : value);
	case COLOR_RGB:
		return value;
	default:
		return dynamic_color(s, dynamic);
	}
}

/* The average of two colours. */
static uint32_t mix(uint32_t a, uint32_t b)
{
	return ((a & 0xfefefe) >> 1) + ((b & 0xfefefe) >> 1);
}

static void put_lines(struct html *h, struct output *o, const struct style *style)
{
	static const char *const kinds[] = {[UNDERLINE_DOUBLE] = " double",
		[UNDERLINE_CURLY] = " wavy",
		[UNDERLINE_DOTTED] = " dotted",
		[UNDERLINE_DASHED] = " dashed"};
	if (!(style->flags & (STYLE_UNDERLINE | STYLE_STRIKE | STYLE_OVERLINE)))
		return;
	output_text(o, "text-decoration:");
	if (style->flags & STYLE_UNDERLINE)
		output_text(o, "underline ");
	if (style->flags & STYLE_STRIKE)
		output_text(o, "line-through ");
	if (style->flags & STYLE_OVERLINE)
		output_text(o, "overline ");
	o->length -= !o->failed;
	if ((style->flags & STYLE_UNDERLINE) && style->underline < sizeof kinds / sizeof *kinds &&
		kinds[style->underline])
		output_text(o, kinds[style->underline]);
	if ((style->flags & STYLE_UNDERLINE) && (style->underline_color & COLOR_MODE) != 0)
		output_format(o, " #%06x", resolve(h->s, style->underline_color, 0, false));
	output_text(o, ";");
}

static void open_span(struct html *h, struct output *o, const struct style *style)
{
	bool bold = style->flags & STYLE_BOLD;
	uint32_t fg = resolve(h->s, style->fg, 0, bold), bg = resolve(h->s, style->bg, 1, false);
	if (style->flags & STYLE_INVERSE) {
		uint32_t other = fg;
		fg = bg;
		bg = other;
	}
	if (style->flags & STYLE_DIM)
		fg = mix(fg, bg);
	if (style->flags & STYLE_CONCEAL)
		fg = bg;
	size_t start = o->length;
	output_text(o, "<span style=\"");
	size_t empty = o->length;
	if (fg != dynamic_color(h->s, 0))
		output_format(o, "color:#%06x;", fg);
	if (bg != dynamic_color(h->s, 1))
		output_format(o, "background:#%06x;", bg);
	if (bold)
		output_text(o, "font-weight:bold;");
	if (style->flags & STYLE_ITALIC)
		output_text(o, "font-style:italic;");
	put_lines(h, o, style);
	h->in_span = o->length > empty;
	if (!h->in_span) {
		o->length = start;
		return;
	}
	o->length -= !o->failed; /* without the last semicolon */
	output_text(o, "\">");
}

void html_style(struct html *h, struct output *o, const struct style *style)
{
	if (memcmp(&h->style, style, sizeof *style) == 0)
		return;
	close_span(h, o);
	if (h->style.link != style->link)
		change_link(h, o, style->link);
	h->style = *style;
	open_span(h, o, style);
}

void html_plain(struct html *h, struct output *o)
{
	html_style(h, o, &plain);
}

void html_begin(struct html *h, struct output *o)
{
	/* HTML drops this newline; without it, it would drop a first newline of the text. */
	output_format(o, "<pre style=\"color:#%06x;background:#%06x\">\n", dynamic_color(h->s, 0),
		dynamic_color(h->s, 1));
}

void html_end(struct html *h, struct output *o)
{
	html_plain(h, o);
	output_text(o, "</pre>\n");
}
