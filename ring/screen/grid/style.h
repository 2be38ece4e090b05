/*
 * Style: how a cell is drawn. Colours are stored as given; their look depends on the viewer's
 * theme. The fields equal those of xterm.js, so that a snapshot can restore a cell exactly.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A colour: the mode in the top byte, a palette index or 0xRRGGBB below. */
#define COLOR_DEFAULT UINT32_C(0)
#define COLOR_BASIC UINT32_C(0x01000000)   /* SGR 30-37, 90-97: 0 to 15 */
#define COLOR_INDEXED UINT32_C(0x02000000) /* SGR 38;5: 0 to 255 */
#define COLOR_RGB UINT32_C(0x03000000)
#define COLOR_MODE UINT32_C(0x03000000)
#define COLOR_VALUE UINT32_C(0x00ffffff)

/* Attributes of a style. */
enum style_flags {
	STYLE_BOLD = 1 << 0,
	STYLE_DIM = 1 << 1,
	STYLE_ITALIC = 1 << 2,
	STYLE_UNDERLINE = 1 << 3,
	STYLE_BLINK = 1 << 4,
	STYLE_INVERSE = 1 << 5,
	STYLE_CONCEAL = 1 << 6,
	STYLE_STRIKE = 1 << 7,
	STYLE_OVERLINE = 1 << 8,
	STYLE_PROTECTED = 1 << 9, /* DECSCA: spared by DECSED and DECSEL */
	STYLE_EXTENDED = 1 << 10, /* underline style, underline colour and link are in effect */
	STYLE_IMAGE = 1 << 11, /* part of an image, see screen_image_of(): there is nothing else to see */
};

/* Underline styles: SGR 4:n. */
enum underline {
	UNDERLINE_NONE,
	UNDERLINE_SINGLE,
	UNDERLINE_DOUBLE,
	UNDERLINE_CURLY,
	UNDERLINE_DOTTED,
	UNDERLINE_DASHED
};

/* A style. No padding, because it is compared and hashed as bytes. */
struct style {
	uint32_t fg, bg;
	uint32_t underline_color;
	uint32_t link; /* index into the screen's links; 0: none */
	uint16_t flags;
	uint16_t underline;
};

_Static_assert(sizeof(struct style) == 20, "a style has no padding");

/* Whether two styles are equal. */
static inline bool style_equals(const struct style *a, const struct style *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->underline_color == b->underline_color &&
		a->link == b->link && a->flags == b->flags && a->underline == b->underline;
}
