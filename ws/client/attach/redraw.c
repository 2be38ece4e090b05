/*
 * The first bytes of a snapshot are held; a snapshot that does not begin with the reset passes
 * whole.
 */
#include "ws/client/attach/redraw.h"

#include <string.h>

static const char reset[] = "\030\033c", pop[] = "\033[23;0t";

/* The length of the reset; 0 if there is none. */
static size_t measure_reset(const char *head, size_t length)
{
	size_t at = sizeof reset - 1;
	if (length < at || memcmp(head, reset, at) != 0)
		return 0;
	return at;
}

/* Remove sequences that pop titles. Returns the new length. */
static size_t drop_pops(char *head, size_t length)
{
	size_t n = sizeof pop - 1;
	for (size_t i = 0; i + n <= length;) {
		if (memcmp(head + i, pop, n) != 0) {
			i++;
			continue;
		}
		memmove(head + i, head + i + n, length - i - n);
		length -= n;
	}
	return length;
}

size_t redraw_filter(struct redraw *r, const char *bytes, size_t length, bool last,
	const char **ret_head, size_t *ret_head_length)
{
	size_t taken = 0;
	*ret_head = r->head;
	*ret_head_length = 0;
	if (r->begun)
		return 0;
	size_t space = sizeof r->head - r->length;
	taken = length < space ? length : space;
	memcpy(r->head + r->length, bytes, taken);
	r->length += taken;
	if (r->length < sizeof r->head && !last)
		return taken;
	r->begun = true;
	size_t skip = measure_reset(r->head, r->length);
	*ret_head = r->head + skip;
	*ret_head_length = skip > 0 ? drop_pops(r->head + skip, r->length - skip) : r->length;
	return taken;
}
