/* Escaping, after utf8.c and arguments.c of tmux. Cannot fail. */
#include "ws/client/tmux/quote.h"

#include "ring/screen/grid/width.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* The length of the UTF-8 character there; 0: invalid. */
static size_t measure(const char *p)
{
	const unsigned char *b = (const unsigned char *)p;
	size_t n = b[0] < 0x80                ? 1
		: b[0] >= 0xc2 && b[0] < 0xe0 ? 2
		: (b[0] & 0xf0) == 0xe0       ? 3
		: b[0] >= 0xf0 && b[0] < 0xf5 ? 4
					      : 0;
	for (size_t i = 1; i < n; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	bool bad = (n == 3 && ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f))) ||
		(n == 4 && ((b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f)));
	return bad ? 0 : n;
}

static uint32_t decode(const char *p, size_t n)
{
	const unsigned char *b = (const unsigned char *)p;
	uint32_t c = n == 1 ? b[0] : b[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (b[i] & 0x3f);
	return c;
}

/* Columns of a character of n bytes; an invalid byte, n 0, has one. */
static size_t columns_of(const char *p, size_t n)
{
	return n == 0 ? 1 : width_of(decode(p, n));
}

static void add_visible(struct text *t, const char *p, bool double_quotes)
{
	static const char controls[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
	unsigned char c = (unsigned char)*p;
	const char *found = c ? strchr(controls, c) : NULL;
	bool begins = isalpha((unsigned char)p[1]) || p[1] == '_' || p[1] == '{';
	if (found)
		text_print(t, "\\%c", letters[found - controls]);
	else if (c == '\\' || (double_quotes && c == '"') || (c == '$' && begins))
		text_print(t, "\\%c", c);
	else if (iscntrl(c) || c >= 0x80)
		text_print(t, "\\%03o", c);
	else
		text_add(t, p, 1);
}

char *quote_visible(struct arena *a, const char *text, bool double_quotes)
{
	struct text t = {.arena = a};
	while (*text) {
		size_t n = measure(text);
		if (n > 1)
			text_add(&t, text, n);
		else
			add_visible(&t, text, double_quotes);
		text += n > 1 ? n : 1;
	}
	return text_get(&t);
}

char *quote_word(struct arena *a, const char *text)
{
	char quotes = '\0';
	if (!*text)
		return arena_copy(a, "''");
	if (text[strcspn(text, " #';${}%")])
		quotes = '"';
	else if (text[strcspn(text, " \"")])
		quotes = '\'';
	if (text[0] != ' ' && !text[1] && (quotes || text[0] == '~'))
		return arena_print(a, "\\%c", text[0]);
	const char *escaped = quote_visible(a, text, quotes == '"');
	if (quotes)
		return arena_print(a, "%c%s%c", quotes, escaped, quotes);
	return arena_print(a, "%s%s", *escaped == '~' ? "\\" : "", escaped);
}

char *quote_utf8(struct arena *a, const char *text)
{
	struct text t = {.arena = a};
	while (*text) {
		size_t n = measure(text);
		text_add(&t, n > 0 ? text : "?", n > 0 ? n : 1);
		text += n > 0 ? n : 1;
	}
	return text_get(&t);
}

char *quote_session_name(struct arena *a, const char *name)
{
	char *copy = arena_copy(a, name);
	for (char *c = copy; *c; c++)
		if (*c == ':' || *c == '.')
			*c = '_';
	return quote_visible(a, copy, false);
}

size_t quote_width(const char *text)
{
	size_t width = 0;
	while (*text) {
		size_t n = measure(text);
		width += columns_of(text, n);
		text += n > 0 ? n : 1;
	}
	return width;
}

char *quote_trim(struct arena *a, const char *text, size_t width, bool from_end)
{
	size_t all = quote_width(text), at = 0;
	struct text t = {.arena = a};
	while (*text) {
		size_t n = measure(text), w = columns_of(text, n);
		n = n > 0 ? n : 1;
		bool in = from_end ? at + width >= all : at + w <= width;
		if (in)
			text_add(&t, text, n);
		at += w;
		text += n;
	}
	return text_get(&t);
}
