/*
 * libvterm's screen for unchanged bytes, without rules. Each line of stdin is a command:
 *   paint ROWS COLS HEX   feed a new screen; print it: "cursor ROW COL", a line for each row, "."
 *   more HEX              feed further bytes; print it
 * A cell is its text, \x02, foreground, background and attributes, \x03. A colour is "-", an index, or #RRGGBB. The second half
 * of a wide character has the text \x01.
 */
#include "ring/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

#define WRITE_MAX 4096u

static void put_color(const VTermColor *color, bool is_default)
{
	if (is_default)
		putchar('-');
	else if (VTERM_COLOR_IS_INDEXED(color))
		printf("%u", color->indexed.idx);
	else
		printf("#%02x%02x%02x", color->rgb.red, color->rgb.green, color->rgb.blue);
}

static void put_cell(const VTermScreenCell *cell)
{
	uint8_t bytes[4];
	if (cell->chars[0] == (uint32_t)-1) {
		printf("\x01\x03");
		return;
	}
	for (unsigned i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell->chars[i]; i++)
		fwrite(bytes, 1, utf8_encode(cell->chars[i], bytes), stdout);
	printf("\x02");
	put_color(&cell->fg, VTERM_COLOR_IS_DEFAULT_FG(&cell->fg));
	putchar(' ');
	put_color(&cell->bg, VTERM_COLOR_IS_DEFAULT_BG(&cell->bg));
	printf(" %s%s%s%s%s%u\x03", cell->attrs.bold ? "b" : "", cell->attrs.italic ? "i" : "",
		cell->attrs.blink ? "k" : "", cell->attrs.reverse ? "r" : "",
		cell->attrs.strike ? "s" : "", cell->attrs.underline);
}

static void put_screen(VTerm *vt)
{
	VTermPos pos;
	VTermScreenCell cell;
	int rows, cols;
	vterm_get_size(vt, &rows, &cols);
	vterm_state_get_cursorpos(vterm_obtain_state(vt), &pos);
	printf("cursor %d %d\n", pos.row, pos.col);
	for (pos.row = 0; pos.row < rows; pos.row++) {
		for (pos.col = 0; pos.col < cols; pos.col++) {
			vterm_screen_get_cell(vterm_obtain_screen(vt), pos, &cell);
			put_cell(&cell);
		}
		putchar('\n');
	}
	puts(".");
	fflush(stdout);
}

static VTerm *create(int rows, int cols)
{
	VTerm *vt = vterm_new(rows, cols);
	vterm_set_utf8(vt, 1);
	vterm_screen_enable_altscreen(vterm_obtain_screen(vt), 1);
	vterm_screen_reset(vterm_obtain_screen(vt), 1);
	return vt;
}

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void feed(VTerm *vt, const char *hex)
{
	char bytes[WRITE_MAX];
	while (isxdigit((unsigned char)*hex)) {
		size_t n = 0;
		for (; n < sizeof bytes && isxdigit((unsigned char)hex[0]) &&
			isxdigit((unsigned char)hex[1]);
			hex += 2)
			bytes[n++] = (char)(digit(hex[0]) << 4 | digit(hex[1]));
		vterm_input_write(vt, bytes, n);
	}
}

int main(void)
{
	VTerm *vt = NULL;
	char *line = NULL, *rest;
	size_t size = 0;
	while (getline(&line, &size, stdin) > 0) {
		rest = line + strcspn(line, " ");
		if (line[0] == 'p') {
			int rows = (int)strtol(rest, &rest, 10), cols = (int)strtol(rest, &rest, 10);
			if (vt)
				vterm_free(vt);
			vt = create(rows, cols);
		}
		if (!vt)
			abort();
		feed(vt, rest + 1);
		put_screen(vt);
	}
	if (vt)
		vterm_free(vt);
	free(line);
	return 0;
}
