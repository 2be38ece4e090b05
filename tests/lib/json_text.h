/* JSON in tests, with ' instead of ". */
#pragma once

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static inline json_t *json_of(const char *text)
{
	char *copy = strdup(text);
	for (char *at = copy; (at = strchr(at, '\''));)
		*at = '"';
	json_t *value = json_loads(copy, JSON_DECODE_ANY, NULL);
	cr_assert_not_null(value, "%s", text);
	free(copy);
	return value;
}

/* Compare a value with a text, and free it. */
static inline void json_expect(json_t *got, const char *want)
{
	json_t *wanted = json_of(want);
	char *text = json_dumps(got, JSON_ENCODE_ANY | JSON_SORT_KEYS);
	cr_expect(json_equal(got, wanted), "%s instead of %s", text ? text : "nothing", want);
	free(text);
	json_decref(wanted);
	json_decref(got);
}
