/* After the last ".." that reaches the root, the next name of the path decides. */
#include "shell/files/alias.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_name(const char *at, size_t length, const char *name)
{
	return length == strlen(name) && memcmp(at, name, length) == 0;
}

/* How a path relates to the alias. */
struct alias_match {
	const char *rest; /* after ALIAS_NAME if inside, else after the last return to the root */
	bool inside;      /* it names the alias or something below it */
	bool through;     /* it does so at any point */
};

static struct alias_match match_alias(const char *path)
{
	struct alias_match w = {.rest = path};
	size_t depth = 0, length;
	for (const char *at = path; (length = strcspn(at += strspn(at, "/"), "/")) > 0;
		at += length) {
		if (is_name(at, length, "..")) {
			depth -= depth > 0;
			w.inside &= depth > 0;
			w.rest = depth > 0 ? w.rest : at + length;
		} else if (!is_name(at, length, ".") && depth++ == 0) {
			w.inside = is_name(at, length, ALIAS_NAME);
			w.rest = w.inside ? at + length : w.rest;
		}
		w.through |= w.inside;
	}
	return w;
}

int alias_resolve(const char *target, const char *path, char *ret_path, size_t size)
{
	const struct alias_match w = match_alias(path);
	const char *head = "", *rest = path;
	if (target && w.through)
		rest = w.rest;
	if (target && w.inside && strcmp(target, "/") != 0)
		head = target;
	if (!*head && !*rest)
		head = "/";
	int n = snprintf(ret_path, size, "%s%s", head, rest);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}
