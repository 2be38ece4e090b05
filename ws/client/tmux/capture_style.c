/*
 * If an attribute ends, the style is reset by 0 and written in full. Each colour is a sequence of its own.
 */
#include "ws/client/tmux/capture_style.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of output. tmux writes codes from 10 on with a colon, also that of overline: 53 as 5:3. */
static const struct attribute {
	const char *field, *value; /* the field's text; NULL: true */
	const char *parameter;
} attributes[] = {
	{"bold", NULL, "1"},
	{"dim", NULL, "2"},
	{"italic", NULL, "3"},
	{"underline", "single", "4"},
	{"blink", NULL, "5"},
	{"inverse", NULL, "7"},
	{"conceal", NULL, "8"},
	{"strike", NULL, "9"},
	{"underline", "double", "4:2"},
	{"underline", "curly", "4:3"},
	{"underline", "dotted", "4:4"},
	{"underline", "dashed", "4:5"},
	{"overline", NULL, "5:3"},
};

#define ATTRIBUTES (sizeof attributes / sizeof *attributes)

static unsigned find_attributes(const json_t *run)
{
	unsigned found = 0;
	for (size_t i = 0; i < ATTRIBUTES; i++) {
		const json_t *value = json_object_get(run, attributes[i].field);
		const char *text = json_string_value(value);
		if (attributes[i].value ? text && strcmp(text, attributes[i].value) == 0
					: json_is_true(value))
			found |= 1u << i;
	}
	return found;
}

/* Write a palette index, "#rrggbb", or usual for NULL. base: 30, 40, or 50, which has no short forms. */
static void write_colour(
	char *out, size_t size, const json_t *value, unsigned base, const char *usual)
{
	unsigned n = (unsigned)json_integer_value(value);
	const char *text = json_string_value(value);
	unsigned long rgb = text && *text == '#' ? strtoul(text + 1, NULL, 16) : 0;
	if (text)
		snprintf(out, size, "%u;2;%lu;%lu;%lu", base + 8, rgb >> 16 & 0xff, rgb >> 8 & 0xff,
			rgb & 0xff);
	else if (!value)
		snprintf(out, size, "%s", usual);
	else if (n < 16 && base != 50)
		snprintf(out, size, "%u", n < 8 ? base + n : base + 60 + n - 8);
	else
		snprintf(out, size, "%u;5;%u", base + 8, n);
}

void capture_style_begin(struct capture_style *s)
{
	*s = (struct capture_style){.fg = "39", .bg = "49"};
}

static void add_colour(struct text *out, const char *now, const char *before, bool reset)
{
	if (*now && (reset || strcmp(now, before) != 0))
		text_print(out, "\033[%sm", now);
}

void capture_style_change(struct text *out, struct capture_style *s, const json_t *run)
{
	struct capture_style now = {.attributes = find_attributes(run)};
	write_colour(now.fg, sizeof now.fg, json_object_get(run, "fg"), 30, "39");
	write_colour(now.bg, sizeof now.bg, json_object_get(run, "bg"), 40, "49");
	write_colour(now.underline, sizeof now.underline, json_object_get(run, "underlineColor"),
		50, "");
	bool reset = (s->attributes & ~now.attributes) != 0 || (*s->underline && !*now.underline);
	unsigned added = now.attributes & ~(reset ? 0 : s->attributes);
	if (reset || added)
		text_puts(out, reset ? "\033[0" : "\033[");
	for (size_t i = 0, n = reset; i < ATTRIBUTES; i++)
		if (added >> i & 1)
			text_print(out, "%s%s", n++ > 0 ? ";" : "", attributes[i].parameter);
	if (reset || added)
		text_puts(out, "m");
	add_colour(out, now.fg, s->fg, reset);
	add_colour(out, now.bg, s->bg, reset);
	add_colour(out, now.underline, s->underline, reset);
	*s = now;
}
