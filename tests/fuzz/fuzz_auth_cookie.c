/* Cookie headers. Input: the size of the buffer, the cookie's name, a newline, the header. */
#include "tests/fuzz/fuzz.h"
#include "ws/auth/auth.h"

/* The first cookie of that name, found by another algorithm, or NULL. */
static char *find(const char *header, const char *name)
{
	char *copy = strdup(header), *rest = copy, *part, *found = NULL;
	size_t length = strlen(name);
	FUZZ_CHECK(copy != NULL);
	while (!found && (part = strsep(&rest, ";"))) {
		part += strspn(part, " \t");
		if (strncmp(part, name, length) == 0 && part[length] == '=')
			found = strdup(part + length + 1);
	}
	free(copy);
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	size_t capacity = 1 + fuzz_byte(&in);
	char *name = fuzz_text(&in, '\n'), *header = fuzz_text(&in, '\0'),
	     *value = fuzz_alloc(capacity);
	char *want = find(header, name);
	bool found = auth_find_cookie(header, name, value, capacity);
	FUZZ_CHECK(found == (want && strlen(want) < capacity));
	if (found)
		FUZZ_CHECK(strcmp(value, want) == 0);
	free(want);
	free(value);
	free(header);
	free(name);
	return 0;
}
