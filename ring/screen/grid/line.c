/* Cells from `used` on are zero, so most operations skip them. Only creating a line can fail. */
#include "ring/screen/grid/line.h"

#include "ring/screen/grid/style.h"

#include <stdlib.h>
#include <string.h>

struct line *line_create(unsigned length)
{
	struct line *line = calloc(1, sizeof *line + length * sizeof *line->cells);
	if (line)
		line->length = length;
	return line;
}

void line_unref(struct line *line)
{
	if (line && line->shares-- == 0)
		free(line);
}

void line_copy(struct line *to, const struct line *from)
{
	to->offset = from->offset;
	to->version = from->version;
	to->wrapped = from->wrapped;
	to->used = from->used < to->length ? from->used : to->length;
	memcpy(to->cells, from->cells, to->used * sizeof *to->cells);
}

void line_set(struct line *line, unsigned start, unsigned end, struct cell cell)
{
	if (end > line->length)
		end = line->length;
	if (cell_is_untouched(cell)) {
		unsigned stop = end < line->used ? end : line->used;
		if (start < stop)
			memset(line->cells + start, 0, (stop - start) * sizeof cell);
		if (end >= line->used && start < line->used)
			line->used = start;
		return;
	}
	for (unsigned i = start; i < end; i++)
		line->cells[i] = cell;
	if (start < end && end > line->used)
		line->used = end;
}

void line_fill(struct line *line, struct cell cell)
{
	line_set(line, 0, line->length, cell);
}

static unsigned width_at(const struct line *line, unsigned at)
{
	return cell_width(line->cells[at]);
}

/* Blank the remaining half of a wide character, in the given style. */
static void blank_half(struct line *line, unsigned at, struct cell blank)
{
	line_put(line, at, cell_make(0, 1, blank.style));
}

/* Move cells [from, used) to `to`. The caller fills the cells left behind. */
static void move(struct line *line, unsigned to, unsigned from)
{
	unsigned count = line->used > from ? line->used - from : 0;
	if (to >= line->length)
		return;
	if (count > line->length - to)
		count = line->length - to;
	memmove(line->cells + to, line->cells + from, count * sizeof *line->cells);
	unsigned end = to + count;
	if (to > from) {
		if (count > 0)
			line->used = end > line->used ? end : line->used;
		return;
	}
	/* The untouched cells beyond moved as well. */
	if (line->used > end) {
		memset(line->cells + end, 0, (line->used - end) * sizeof *line->cells);
		line->used = end;
	}
}

void line_insert(struct line *line, unsigned pos, unsigned n, struct cell blank)
{
	pos %= line->length;
	if (pos > 0 && width_at(line, pos - 1) == 2)
		blank_half(line, pos - 1, blank);
	if (n < line->length - pos) {
		move(line, pos + n, pos);
		line_set(line, pos, pos + n, blank);
	} else {
		line_set(line, pos, line->length, blank);
	}
	if (width_at(line, line->length - 1) == 2)
		blank_half(line, line->length - 1, blank);
}

void line_delete(struct line *line, unsigned pos, unsigned n, struct cell blank)
{
	pos %= line->length;
	if (n < line->length - pos) {
		move(line, pos, pos + n);
		line_set(line, line->length - n, line->length, blank);
	} else {
		line_set(line, pos, line->length, blank);
	}
	if (pos > 0 && width_at(line, pos - 1) == 2)
		blank_half(line, pos - 1, blank);
	if (cell_is_tail(line->cells[pos]))
		blank_half(line, pos, blank);
}

static bool is_protected(const struct intern *styles, struct cell cell)
{
	const struct style *style = intern_get(styles, cell.style, NULL);
	return style && (style->flags & STYLE_PROTECTED);
}

void line_erase(struct line *line, unsigned start, unsigned end, struct cell blank,
	const struct intern *protect)
{
	if (start > 0 && start <= line->length && width_at(line, start - 1) == 2 &&
		!(protect && is_protected(protect, line->cells[start - 1])))
		blank_half(line, start - 1, blank);
	if (end > 0 && end < line->length && width_at(line, end - 1) == 2 &&
		!(protect && is_protected(protect, line->cells[end])))
		blank_half(line, end, blank);
	if (!protect) {
		line_set(line, start, end, blank);
		return;
	}
	for (unsigned i = start; i < end && i < line->length; i++)
		if (!is_protected(protect, line->cells[i]))
			line_put(line, i, blank);
}

unsigned line_trimmed(const struct line *line)
{
	for (unsigned i = line->used; i-- > 0;)
		if (cell_has_content(line->cells[i]))
			return i + cell_width(line->cells[i]);
	return 0;
}

unsigned line_extent(const struct line *line)
{
	for (unsigned i = line->used; i-- > 0;)
		if (!cell_is_untouched(line->cells[i]))
			return i + 1;
	return 0;
}
