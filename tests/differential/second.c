#include "second.h"

#include "ring/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

#define WRITE_MAX 4096u /* libvterm copies input to its stack, four times */
#define TOGETHER_MAX 64u
#define CODES 0x110000u
#define SECOND_HALF ((uint32_t)-1)

struct second {
	VTerm *vt;
	VTermScreen *screen;
	unsigned rows;
	unsigned first, end; /* rows that have changed */
};

static int on_damage(VTermRect rect, void *user)
{
	struct second *v = user;
	v->first = (unsigned)rect.start_row < v->first ? (unsigned)rect.start_row : v->first;
	v->end = (unsigned)rect.end_row > v->end ? (unsigned)rect.end_row : v->end;
	return 1;
}

static void on_output(const char *bytes, size_t length, void *user)
{
	(void)bytes;
	(void)length;
	(void)user;
}

static const VTermScreenCallbacks callbacks = {.damage = on_damage};

struct second *second_create(unsigned rows, unsigned cols)
{
	struct second *v = calloc(1, sizeof *v);
	v->vt = vterm_new((int)rows, (int)cols);
	v->rows = rows;
	v->end = rows;
	vterm_set_utf8(v->vt, 1);
	vterm_output_set_callback(v->vt, on_output, v);
	v->screen = vterm_obtain_screen(v->vt);
	vterm_screen_enable_altscreen(v->screen, 1);
	vterm_screen_set_callbacks(v->screen, &callbacks, v);
	vterm_screen_reset(v->screen, 1);
	/* Define the position that DECRC restores before the first DECSC. */
	second_print(v, "\0337");
	return v;
}

void second_destroy(struct second *v)
{
	if (!v)
		return;
	vterm_free(v->vt);
	free(v);
}

void second_feed(struct second *v, const void *bytes, size_t length)
{
	const char *at = bytes;
	for (size_t n; length > 0; at += n, length -= n) {
		n = length < WRITE_MAX ? length : WRITE_MAX;
		vterm_input_write(v->vt, at, n);
	}
}

void second_print(struct second *v, const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	second_feed(v, text, (size_t)n);
}

void second_put(struct second *v, const uint32_t *codes, unsigned count)
{
	uint8_t bytes[4 * TOGETHER_MAX];
	size_t length = 0;
	for (unsigned i = 0; i < count && i < TOGETHER_MAX; i++)
		length += utf8_encode(codes[i], bytes + length);
	second_feed(v, bytes, length);
}

void second_cursor(const struct second *v, unsigned *ret_row, unsigned *ret_col)
{
	VTermPos pos;
	vterm_state_get_cursorpos(vterm_obtain_state(v->vt), &pos);
	*ret_row = (unsigned)pos.row;
	*ret_col = (unsigned)pos.col;
}

void second_changed(struct second *v, unsigned *ret_first, unsigned *ret_end)
{
	*ret_first = v->first;
	*ret_end = v->end < v->rows ? v->end : v->rows;
	v->first = v->rows;
	v->end = 0;
}

unsigned second_cell(
	const struct second *v, unsigned row, unsigned col, uint32_t ret_codes[SECOND_CODES])
{
	VTermScreenCell cell;
	unsigned n = 0;
	vterm_screen_get_cell(v->screen, (VTermPos){.row = (int)row, .col = (int)col}, &cell);
	for (; n < SECOND_CODES && cell.chars[n] != 0 && cell.chars[n] != SECOND_HALF; n++)
		ret_codes[n] = cell.chars[n];
	return n;
}

unsigned second_width(uint32_t code)
{
	static struct second *probe;
	static uint8_t widths[CODES]; /* and 1 */
	unsigned row, col;
	if (code >= CODES)
		return 0;
	if (widths[code] > 0)
		return widths[code] - 1u;
	if (!probe)
		probe = second_create(1, 8);
	second_print(probe, "\033[H\033[2Jx");
	second_put(probe, &code, 1);
	second_cursor(probe, &row, &col);
	widths[code] = (uint8_t)col;
	return col - 1;
}
