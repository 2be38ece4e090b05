/* Patterns of paths, against backtracking. */
#include "shell/watch/path_pattern.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define SMALL 12u /* bytes: backtracking is slow */

/* Whether the pattern text matches path from its start to the end of a name. */
static bool matches(const char *text, size_t length, const char *path, size_t rest)
{
	if (length == 0)
		return rest == 0 || *path == '/';
	if (*text == '*') {
		bool all = length > 1 && text[1] == '*';
		size_t skip = all ? 2 : 1;
		for (size_t i = 0;; i++) {
			if (matches(text + skip, length - skip, path + i, rest - i))
				return true;
			if (i == rest || (path[i] == '/' && !all))
				return false;
		}
	}
	if (rest == 0)
		return false;
	if (*text != '?')
		return *text == *path && matches(text + 1, length - 1, path + 1, rest - 1);
	if (*path == '/' || ((unsigned char)*path & 0xc0) == 0x80)
		return false;
	/* One character, whatever its continuation bytes. */
	for (size_t i = 1;; i++) {
		if (matches(text + 1, length - 1, path + i, rest - i))
			return true;
		if (i == rest || ((unsigned char)path[i] & 0xc0) != 0x80)
			return false;
	}
}

static bool fits(const char *text, size_t length, const char *path, size_t path_length)
{
	while (length > 1 && text[length - 1] == '/')
		length--;
	for (size_t i = 0; i <= path_length; i++)
		if ((i == 0 || path[i - 1] == '/') &&
			matches(text, length, path + i, path_length - i))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
	struct path_pattern p;
	size_t length = end ? (size_t)(end - data) : size;
	const char *text = (const char *)data, *path = end ? (const char *)end + 1 : "";
	size_t rest = end ? size - length - 1 : 0;
	if (!path_pattern_is_valid(text, length))
		return 0;
	FUZZ_CHECK(length >= 1 && length <= PATH_PATTERN_MAX);
	path_pattern_prepare(&p, text, length);
	FUZZ_CHECK(p.steps <= length);
	bool found = path_pattern_matches(&p, path, rest);
	/* A pattern that matches a directory matches everything below it. */
	if (found && rest > 0 && rest < 4096) {
		char below[4100];
		memcpy(below, path, rest);
		memcpy(below + rest, "/x", 2);
		FUZZ_CHECK(path_pattern_matches(&p, below, rest + 2));
	}
	if (length <= SMALL && rest <= 3 * SMALL)
		FUZZ_CHECK(found == fits(text, length, path, rest));
	return 0;
}
