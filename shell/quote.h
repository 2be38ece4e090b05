/* Words in single quotes, for bash and other POSIX shells. */
#pragma once

#include <stdio.h>

/* Print text as one word. */
static inline void quote_put(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", f);
		else
			fputc(*text, f);
	fputc('\'', f);
}
