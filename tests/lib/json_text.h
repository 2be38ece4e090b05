/* JSON in tests, with ' instead of ". */
#pragma once

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A copy of a text with " instead of ', which the caller frees. */
static inline char *json_quoted(const char *text)
{
	char *copy = strdup(text);
	for (char *at = copy; (at = strchr(at, '\''));)
		*at = '"';
	return copy;
}

static inline json_t *json_of(const char *text)
{
	char *copy = json_quoted(text);
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

/* Whether got has the values of want, see json_has(). */
static inline bool json_includes(const json_t *got, const json_t *want)
{
	const char *name;
	size_t i;
	json_t *value;
	if (json_is_array(want)) {
		if (!json_is_array(got) || json_array_size(got) != json_array_size(want))
			return false;
		json_array_foreach (want, i, value)
			if (!json_includes(json_array_get(got, i), value))
				return false;
		return true;
	}
	if (!json_is_object(want))
		return json_equal(got, want);
	if (!json_is_object(got))
		return false;
	json_object_foreach ((json_t *)want, name, value)
		if (!json_includes(json_object_get(got, name), value))
			return false;
	return true;
}

/*
 * The value must have the values of want; objects may have more fields, so {} is any object.
 * about: what the value is, for the message.
 */
static inline void json_has(const json_t *got, const char *want, const char *about)
{
	json_t *wanted = json_of(want);
	char *text = got ? json_dumps(got, JSON_ENCODE_ANY) : NULL;
	cr_expect(json_includes(got, wanted), "%s: %s instead of %s", about,
		text ? text : "nothing", want);
	free(text);
	json_decref(wanted);
}
