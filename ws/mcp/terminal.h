/* The tools for sessions and terminals. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/*
 * The sessions after the id `cursor` (NULL: all) of a list of the API, sorted by id, at most limit. *ret_next: the
 * cursor of the next page, borrowed from the list; NULL: there is none. Returns a new reference, NULL without memory.
 */
json_t *mcp_page(const json_t *sessions, const char *cursor, size_t limit, const char **ret_next);
