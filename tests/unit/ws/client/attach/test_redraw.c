/* The beginning of a snapshot on the user's own terminal. */
#include "ws/client/attach/redraw.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define TITLES "\033[23;0t\033[23;0t"

/* Filter a snapshot in pieces of n bytes; returns the output, owned. */
static char *redraw(const char *bytes, size_t length, size_t n)
{
	struct redraw r = {.length = 0};
	char *out = calloc(1, length + 1);
	size_t at = 0;
	for (size_t i = 0; i < length; i += n) {
		const char *head;
		size_t head_length, piece = length - i < n ? length - i : n;
		size_t consumed = redraw_filter(
			&r, bytes + i, piece, i + piece == length, &head, &head_length);
		memcpy(out + at, head, head_length);
		at += head_length;
		memcpy(out + at, bytes + i + consumed, piece - consumed);
		at += piece - consumed;
	}
	return out;
}

static void check(const char *bytes, const char *want)
{
	for (size_t n = 1; n <= strlen(bytes); n++) {
		char *out = redraw(bytes, strlen(bytes), n);
		cr_assert_str_eq(out, want, "pieces of %zu", n);
		free(out);
	}
}

Test(redraw_filter, reset_and_titles_are_dropped)
{
	check("\030\033c\033[20l\033]104\033\\" TITLES "text", "\033[20l\033]104\033\\text");
}

Test(redraw_filter, other_beginnings_stay)
{
	check("text" TITLES, "text" TITLES);
	check("x", "x");
}

Test(redraw_filter, long_title)
{
	char bytes[3000] = "\030\033c" TITLES, want[3000] = "";
	size_t prefix = strlen(bytes);
	memset(bytes + prefix, 'a', 2000);
	memset(want, 'a', 2000);
	check(bytes, want);
}
