/* Finds lines without decoding them: they are read again anyway. */
#include "ring/screen/bulk_line.h"

#include "ring/screen/bulk_piece.h"

#include <stdbool.h>
#include <string.h>

/* Skip bytes that are not ASCII, up to a C1 control. */
static const uint8_t *skip_high(const uint8_t *at, const uint8_t *end)
{
	while (at < end && *at >= 0x80 && !(*at == 0xc2 && (end - at < 2 || at[1] < 0xa0)))
		at++;
	return at;
}

/*
 * Returns the end of the line at `at`; NULL if it is not bulk or not complete, with the place in
 * *ret_stop. Non-ASCII bytes are not checked.
 */
static const uint8_t *skip_line(const uint8_t *at, const uint8_t *end, const uint8_t **ret_stop)
{
	const uint8_t *p = at;
	if (end - at > (ptrdiff_t)BULK_LINE_MAX)
		end = at + BULK_LINE_MAX;
	for (;;) {
		const uint8_t *next = parser_text_end(p, end);
		if (next < end && *next >= 0x80)
			next = skip_high(next, end);
		if (next == p) {
			struct piece piece = piece_at(p, end);
			if (piece.type == PIECE_END)
				return piece.end;
			if (piece.type == PIECE_NONE || piece.type == PIECE_CHARACTER) {
				*ret_stop = piece.at;
				return NULL;
			}
			next = piece.end;
		}
		p = next;
	}
}

size_t bulk_count_lines(
	const uint8_t *at, const uint8_t *end, const uint8_t **ret_end, const uint8_t **ret_stop)
{
	const uint8_t *next;
	size_t lines = 0;
	for (; (next = skip_line(at, end, ret_stop)); at = next)
		lines++;
	*ret_end = at;
	return lines;
}

static bool has_high(const uint8_t *at, const uint8_t *end)
{
	uint64_t w, all = 0;
	for (; end - at >= (ptrdiff_t)sizeof w; at += sizeof w) {
		memcpy(&w, at, sizeof w);
		all |= w;
	}
	for (; at < end; at++)
		all |= (uint64_t)*at;
	return (all & UINT64_C(0x8080808080808080)) != 0;
}

bool bulk_is_odd(const uint8_t *at, const uint8_t *high, const uint8_t *end)
{
	if (!has_high(high, end))
		return false;
	for (;;) {
		struct piece piece = piece_at(at, end);
		if (piece.type == PIECE_NONE || piece.type == PIECE_END)
			return piece.type == PIECE_NONE;
		at = piece.end;
	}
}

const uint8_t *bulk_line_before(const uint8_t *start, const uint8_t *at)
{
	const uint8_t *lf = at > start ? memrchr(start, '\n', (size_t)(at - 1 - start)) : NULL;
	return lf ? lf + 1 : start;
}

const uint8_t *bulk_last_lines(const uint8_t *start, const uint8_t *end, size_t n)
{
	while (n-- > 0 && end > start)
		end = bulk_line_before(start, end);
	return end;
}
