/* Prints errors. If standard error is closed, they are lost. */
#include "ws/serve/fail.h"

#include <stdio.h>

#define SHOWN_MAX 400u /* bytes of a text */

/* Replace control characters, which could be commands to a terminal. */
static void put_text(const char *text)
{
	size_t n = 0;
	for (; text[n] && n < SHOWN_MAX; n++)
		fputc((unsigned char)text[n] < ' ' || text[n] == 0x7f ? '?' : text[n], stderr);
	if (text[n])
		fputs("...", stderr);
}

int serve_fail(const char *what, const char *why)
{
	fputs("ringside: ", stderr);
	put_text(what[0] ? what : "\"\"");
	fputs(": ", stderr);
	put_text(why);
	fputc('\n', stderr);
	return -1;
}
