/* Compares paths with the rows segment by segment. */
#include "ws/route.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const method_names[] = {"GET", "POST", "PUT", "DELETE"};

enum method method_parse(const char *name)
{
	for (unsigned i = 0; i < sizeof method_names / sizeof *method_names; i++)
		if (strcmp(name, method_names[i]) == 0)
			return (enum method)i;
	return METHOD_OTHER;
}

const char *method_name(enum method method)
{
	return method < METHOD_OTHER ? method_names[method] : NULL;
}

void routes_add(struct routes *all, const struct route_row *rows, void *module)
{
	assert(all->count < ROUTES_SETS_MAX);
	all->sets[all->count].rows = rows;
	all->sets[all->count++].module = module;
}

static bool capture_segment(const char *path, size_t length, char *ret_text)
{
	if (length == 0 || length > NAME_ID_MAX)
		return false;
	memcpy(ret_text, path, length);
	ret_text[length] = '\0';
	return true;
}

static bool matches(const struct route_row *row, const char *path, struct route_match *m)
{
	const char *pattern = row->path;
	char *captures[] = {m->id, m->item};
	unsigned captured = 0;
	while (*pattern && *path) {
		if (pattern[0] == '{' && row->rest && !pattern[2])
			return true;
		if (pattern[0] == '{') {
			size_t length = strcspn(path, "/");
			assert(captured < sizeof captures / sizeof *captures);
			if (!capture_segment(path, length, captures[captured++]))
				return false;
			path += length;
			pattern += 2;
		} else if (*pattern++ != *path++) {
			return false;
		}
	}
	return !*path && (!*pattern || (row->rest && strcmp(pattern, "{}") == 0));
}

/* Compare with one row. A match with the right method stays in *m, unless this row matches more literally. */
static void compare_row(const struct route_row *row, void *module, enum method method,
	const char *path, struct route_match *m)
{
	struct route_match found = {.result = ROUTE_FOUND, .row = row, .module = module};
	if (!matches(row, path, &found))
		return;
	if (row->method == method) {
		if (m->result != ROUTE_FOUND || !found.id[0])
			*m = found;
	} else if (m->result == ROUTE_NONE && (!found.id[0] || strchr(row->path, '}')[1])) {
		/* A last "{}" also matches the names of fixed routes, so it does not show that the path exists. */
		m->result = ROUTE_OTHER_METHOD;
	}
}

void route_parse(const struct routes *all, enum method method, const char *path,
	struct route_match *ret_match)
{
	struct route_match m = {.result = ROUTE_NONE};
	for (size_t i = 0; i < all->count; i++)
		for (const struct route_row *row = all->sets[i].rows; row->path; row++)
			compare_row(row, all->sets[i].module, method, path, &m);
	if (m.result == ROUTE_NONE && strncmp(path, "/api/", 5) != 0 &&
		strncmp(path, "/ws", 3) != 0 && strcmp(path, "/rpc") != 0)
		m.result = method == METHOD_GET ? ROUTE_PAGE : ROUTE_OTHER_METHOD;
	*ret_match = m;
}

void route_methods(const struct routes *all, const char *path, char ret_text[ROUTE_METHODS_SIZE])
{
	ret_text[0] = '\0';
	for (unsigned i = 0; i < sizeof method_names / sizeof *method_names; i++) {
		struct route_match m;
		route_parse(all, (enum method)i, path, &m);
		if (m.result == ROUTE_NONE || m.result == ROUTE_OTHER_METHOD)
			continue;
		size_t length = strlen(ret_text);
		snprintf(ret_text + length, ROUTE_METHODS_SIZE - length, "%s%s%s",
			length > 0 ? ", " : "", method_names[i], i == METHOD_GET ? ", HEAD" : "");
	}
}
