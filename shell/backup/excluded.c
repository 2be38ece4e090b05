/* The names of a pattern are told one by one: those that are "**", or nothing, are left out. */
#include "shell/backup/excluded.h"

#include <string.h>

/* The next name that counts, at *p; its length, 0 at the end. */
static size_t next_name(const char **p)
{
	for (;;) {
		*p += strspn(*p, "/");
		size_t length = strcspn(*p, "/");
		if (length == 0)
			return 0;
		bool any = length == 2 && strncmp(*p, "**", 2) == 0;
		if (!any && !(length == 1 && **p == '.'))
			return length;
		*p += length;
	}
}

bool excluded_is_valid(const char *pattern)
{
	size_t length = strlen(pattern), names = 0;
	if (length == 0 || length > EXCLUDED_MAX || pattern[length - 1] == '\\')
		return false;
	for (const char *p = pattern; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	for (const char *p = pattern; (length = next_name(&p)) > 0; p += length) {
		/* What mksquashfs would take for more than a name. */
		if ((length == 2 && strncmp(p, "..", 2) == 0) || strncmp(p, "... ", 4) == 0)
			return false;
		names++;
	}
	return names > 0;
}

/* Returns how many there were. */
static size_t write_names(FILE *out, const char *pattern)
{
	size_t length, count = 0;
	for (const char *p = pattern; (length = next_name(&p)) > 0; p += length) {
		/* A line of such a file may be a comment, or be indented. */
		if (count == 0 && strchr("# ", *p))
			fputc('\\', out);
		if (count > 0)
			fputc('/', out);
		fwrite(p, 1, length, out);
		count++;
	}
	fputc('\n', out);
	return count;
}

void excluded_write(FILE *out, const char *pattern)
{
	/* mksquashfs 4.5 takes the first name of such a line for all: more would be left out than was asked for. */
	if (write_names(out, pattern) > 1 || pattern[0] == '/')
		return;
	fputs("... ", out);
	write_names(out, pattern);
}
