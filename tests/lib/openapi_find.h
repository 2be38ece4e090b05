/* Operations in the API's description. */
#pragma once

#include "ws/api/openapi.h"
#include "ws/route.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <jansson.h>
#include <string.h>

static inline json_t *openapi_load(void)
{
	json_t *document = json_loadb(
		(const char *)openapi_document, openapi_document_length, 0, NULL);
	cr_assert_not_null(document);
	return document;
}

/* "/a/{id}/b" as "/a/{}/b". */
static inline void openapi_strip_names(const char *path, char stripped[256])
{
	bool name = false;
	size_t n = 0;
	for (; *path; path++) {
		name &= *path != '}';
		if (!name)
			stripped[n++] = *path;
		cr_assert_lt(n, 256);
		name |= *path == '{';
	}
	stripped[n] = '\0';
}

/* The operation of a route, or NULL. */
static inline const json_t *openapi_find(json_t *document, const struct route_row *row)
{
	const char *path;
	json_t *item;
	char stripped[256], method[8] = "";
	for (size_t i = 0; method_name(row->method)[i]; i++)
		method[i] = (char)tolower(method_name(row->method)[i]);
	json_object_foreach (json_object_get(document, "paths"), path, item) {
		openapi_strip_names(path, stripped);
		if (strcmp(stripped, row->path) == 0 && json_object_get(item, method))
			return json_object_get(item, method);
	}
	return NULL;
}
