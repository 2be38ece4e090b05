/* Theme: the colours of the terminals that show a screen. Programs can query them, and set others in their place. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define THEME_COLORS 16u

/* All colours are 0xRRGGBB. */
struct theme {
	uint32_t foreground, background, cursor;
	uint32_t colors[THEME_COLORS]; /* black to white, then the bright ones */
};

/* The page's dark theme. */
extern const struct theme theme_default;

/* Whether two themes are the same. */
bool theme_equals(const struct theme *a, const struct theme *b);

/* Whether the text is lighter than the background, by their luminance. */
bool theme_is_dark(const struct theme *t);

/* Parse "#rrggbb". Returns false if text is NULL or anything else. */
bool theme_parse_color(const char *text, uint32_t *ret_color);
