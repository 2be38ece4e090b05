#include "shell/backup/exclude_pattern.h"

#include <string.h>

/* Find the next name that is not "**", "." or empty. Returns its length with *p at it, or 0 at the end. */
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

bool exclude_pattern_is_valid(const char *pattern)
{
	size_t length = strlen(pattern), names = 0;
	if (length == 0 || length > EXCLUDE_PATTERN_MAX || pattern[length - 1] == '\\')
		return false;
	for (const char *p = pattern; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	for (const char *p = pattern; (length = next_name(&p)) > 0; p += length) {
		/* mksquashfs gives these a special meaning. */
		if ((length == 2 && strncmp(p, "..", 2) == 0) || strncmp(p, "... ", 4) == 0)
			return false;
		names++;
	}
	return names > 0;
}

/* Write the names of a pattern, joined with slashes. Returns their number. */
static size_t write_names(FILE *out, const char *pattern)
{
	size_t length, count = 0;
	for (const char *p = pattern; (length = next_name(&p)) > 0; p += length) {
		/* Exclude files allow comments and indented lines. */
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

void exclude_pattern_write(FILE *out, const char *pattern)
{
	/* For "... a/b", mksquashfs 4.5 excludes all of "a". */
	if (write_names(out, pattern) > 1 || pattern[0] == '/')
		return;
	fputs("... ", out);
	write_names(out, pattern);
}
