#include "ws/client/attach/past.h"

/* The position at which the last line is visible at the bottom. */
static uint64_t lowest_top(const struct past *p)
{
	return p->end - p->first > p->rows ? p->end - p->rows : p->first;
}

static void clamp(struct past *p)
{
	uint64_t lowest = lowest_top(p);
	if (p->top > lowest)
		p->top = lowest;
	if (p->top < p->first)
		p->top = p->first;
}

void past_extend(struct past *p, uint64_t first, uint64_t end, unsigned rows)
{
	p->first = first;
	p->end = end < first ? first : end;
	p->rows = rows;
	clamp(p);
}

void past_renumber(struct past *p, uint64_t first, uint64_t end, unsigned rows)
{
	uint64_t below = p->end - p->top;
	p->found_count = p->at = 0;
	p->top = end > below ? end - below : 0;
	past_extend(p, first, end, rows);
}

bool past_move(struct past *p, enum key key)
{
	uint64_t was = p->top, page = p->rows > 1 ? p->rows - 1 : 1;
	switch (key) {
	case KEY_UP:
		p->top -= p->top > p->first;
		break;
	case KEY_DOWN:
	case KEY_ENTER:
		p->top++;
		break;
	case KEY_PAGE_UP:
		p->top = p->top - p->first > page ? p->top - page : p->first;
		break;
	case KEY_PAGE_DOWN:
		p->top += page;
		break;
	case KEY_FIRST:
		p->top = p->first;
		break;
	case KEY_LAST:
		p->top = p->end;
		break;
	default:
		break;
	}
	clamp(p);
	return p->top != was;
}

/* Show the current match; scroll it to the middle if it is not visible. */
static void show(struct past *p)
{
	uint64_t line = p->found[p->at].line;
	if (line < p->top || line - p->top >= p->rows)
		p->top = line > p->rows / 2 ? line - p->rows / 2 : 0;
	clamp(p);
}

bool past_find(struct past *p, const json_t *answer)
{
	size_t i;
	json_t *match;
	p->found_count = p->at = 0;
	json_array_foreach (json_object_get(answer, "matches"), i, match) {
		const json_t *line = json_object_get(match, "line");
		json_int_t column = json_integer_value(json_object_get(match, "column"));
		json_int_t columns = json_integer_value(json_object_get(match, "length"));
		/* Matches without a line are older than the scrollback. */
		if (!json_is_integer(line) || json_integer_value(line) < 0 || column < 0 ||
			column > UINT16_MAX || columns < 0 || columns > UINT16_MAX)
			continue;
		if (p->found_count == PAST_FOUND_MAX)
			break;
		p->found[p->found_count++] = (struct past_match){
			.line = (uint64_t)json_integer_value(line),
			.column = (unsigned)column,
			.columns = (unsigned)columns};
	}
	if (p->found_count == 0)
		return false;
	while (p->at + 1 < p->found_count && p->found[p->at].line >= p->top + p->rows)
		p->at++;
	show(p);
	return true;
}

bool past_step(struct past *p, int by)
{
	if (by > 0 ? p->at + (size_t)by >= p->found_count : p->at < (size_t)-by)
		return false;
	p->at = by > 0 ? p->at + (size_t)by : p->at - (size_t)-by;
	show(p);
	return true;
}
