/* Loads tools.json into lists by role; implements the part of JSON Schema that it uses. */
#include "ws/mcp/tools.h"

#include "shell/json_read.h"
#include "ws/mcp/tools_document.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEPTH_MAX 8u

static enum role role_of(const char *name)
{
	return strcmp(name, "viewer") == 0    ? ROLE_VIEWER
		: strcmp(name, "driver") == 0 ? ROLE_DRIVER
					      : ROLE_OWNER;
}

/* Members that are not listed: an error tells a model about them when needed. */
static bool is_left_out(const char *key, const json_t *value)
{
	static const char *const limits[] = {
		"minimum", "maximum", "minItems", "maxItems", "additionalProperties", "codex"};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (strcmp(key, limits[i]) == 0)
			return !json_is_object(value);
	return json_is_true(json_object_get(value, "hidden"));
}

/* A copy without those members. The recursion is bounded, because the document is ours. */
static json_t *listed(json_t *value) /* NOLINT(misc-no-recursion) */
{
	size_t i;
	const char *key;
	json_t *one, *copy;
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach (value, i, one)
			json_array_append_new(copy, listed(one));
		return copy;
	}
	if (!json_is_object(value))
		return json_incref(value);
	copy = json_object();
	json_object_foreach (value, key, one)
		if (!is_left_out(key, one))
			json_object_set_new(copy, key, listed(one));
	return copy;
}

static void list_tool(struct mcp_tools *t, size_t list, json_t *value, bool codex)
{
	if (!codex)
		json_array_append(t->lists[list][0], value);
	json_array_append(t->lists[list][1], value);
}

const json_t *mcp_tools_list(const struct mcp_tools *t, size_t list, const char *client)
{
	return t->lists[list][strncasecmp(client, "codex", 5) == 0];
}

int mcp_tools_open(struct mcp_tools *t)
{
	size_t i;
	json_t *value;
	*t = (struct mcp_tools){0};
	t->document = json_read(mcp_tools_document, mcp_tools_document_length, 0, NULL);
	t->count = json_array_size(t->document);
	t->list = calloc(t->count + 1, sizeof *t->list);
	bool good = t->count > 0 && t->list;
	for (i = 0; i < 2 * (size_t)MCP_LISTS; i++) {
		t->lists[i / 2][i % 2] = json_array();
		good = good && t->lists[i / 2][i % 2];
	}
	if (!good) {
		mcp_tools_close(t);
		return -ENOMEM;
	}
	json_array_foreach (t->document, i, value) {
		struct mcp_tool *tool = &t->list[i];
		tool->name = json_string_value(json_object_get(value, "name"));
		tool->schema = json_object_get(value, "inputSchema");
		const char *role_name = json_string_value(json_object_get(value, "role"));
		bool trusted = strcmp(role_name, "trusted") == 0;
		tool->role = role_of(role_name);
		assert(tool->name && tool->schema);
		json_object_del(value, "role");
		bool codex = json_is_true(json_object_get(value, "codex"));
		json_t *shown = listed(value);
		for (int role = (int)tool->role; role <= (int)ROLE_OWNER; role++)
			list_tool(t, (size_t)role, shown, codex);
		if (trusted || tool->role <= ROLE_DRIVER)
			list_tool(t, MCP_TRUSTED, shown, codex);
		json_decref(shown);
	}
	return 0;
}

void mcp_tools_close(struct mcp_tools *t)
{
	for (size_t i = 0; i < 2 * (size_t)MCP_LISTS; i++)
		json_decref(t->lists[i / 2][i % 2]);
	json_decref(t->document);
	free(t->list);
	*t = (struct mcp_tools){0};
}

const struct mcp_tool *mcp_tools_find(const struct mcp_tools *t, const char *name)
{
	for (size_t i = 0; i < t->count; i++)
		if (strcmp(t->list[i].name, name) == 0)
			return &t->list[i];
	return NULL;
}

/* Schemas */

static bool is_of_type(const json_t *value, const char *type)
{
	switch (type[0]) {
	case 's':
		return json_is_string(value);
	case 'i':
		return json_is_integer(value);
	case 'b':
		return json_is_boolean(value);
	case 'a':
		return json_is_array(value);
	case 'o':
		return json_is_object(value);
	default:
		return type[2] == 'l' ? json_is_null(value) : json_is_number(value);
	}
}

static bool fits_type(const json_t *type, const json_t *value)
{
	size_t i;
	const json_t *one;
	if (!type)
		return true;
	if (json_is_string(type))
		return is_of_type(value, json_string_value(type));
	json_array_foreach (type, i, one)
		if (is_of_type(value, json_string_value(one)))
			return true;
	return false;
}

static bool fits_enum(const json_t *values, const json_t *value)
{
	size_t i;
	const json_t *one;
	json_array_foreach (values, i, one)
		if (json_equal(one, value))
			return true;
	return !values;
}

/* Whether number is within schema[least] and schema[most]. */
static bool is_within(const json_t *schema, const char *least, const char *most, json_int_t number)
{
	const json_t *min = json_object_get(schema, least), *max = json_object_get(schema, most);
	return (!min || number >= json_integer_value(min)) &&
		(!max || number <= json_integer_value(max));
}

static bool fits_any(const json_t *schemas, json_t *value)
{
	char ignored[MCP_PROBLEM_SIZE];
	size_t i;
	const json_t *one;
	json_array_foreach (schemas, i, one)
		if (mcp_schema_check(one, value, "", ignored))
			return true;
	return !schemas;
}

static bool say_problem(char problem[MCP_PROBLEM_SIZE], const char *name, const char *what)
{
	snprintf(problem, MCP_PROBLEM_SIZE, "%.100s %s", name, what);
	return false;
}

static bool check_value(const json_t *schema, json_t *value, const char *name, unsigned depth,
	char problem[MCP_PROBLEM_SIZE]);

static bool check_array(const json_t *schema, json_t *value, const char *name, unsigned depth,
	char problem[MCP_PROBLEM_SIZE])
{
	size_t i;
	json_t *one;
	const json_t *items = json_object_get(schema, "items");
	if (!is_within(schema, "minItems", "maxItems", (json_int_t)json_array_size(value)))
		return say_problem(problem, name, "has too few or too many items");
	json_array_foreach (value, i, one)
		if (items && !check_value(items, one, name, depth + 1, problem))
			return false;
	return true;
}

static bool check_object(const json_t *schema, json_t *value, const char *name, unsigned depth,
	char problem[MCP_PROBLEM_SIZE])
{
	size_t i;
	const char *key;
	json_t *one;
	const json_t *required = json_object_get(schema, "required");
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *others = json_object_get(schema, "additionalProperties");
	(void)name;
	json_array_foreach (required, i, one)
		if (!json_object_get(value, json_string_value(one)))
			return say_problem(problem, json_string_value(one), "is required");
	json_object_foreach (value, key, one) {
		const json_t *expected = json_object_get(properties, key);
		if (!expected && json_is_false(others))
			return say_problem(problem, key, "is not a known argument");
		expected = expected ? expected : others;
		if (json_is_object(expected) && !check_value(expected, one, key, depth + 1, problem))
			return false;
	}
	return true;
}

static bool check_value(const json_t *schema, json_t *value, const char *name, unsigned depth,
	char problem[MCP_PROBLEM_SIZE])
{
	char what[MCP_PROBLEM_SIZE];
	const json_t *type = json_object_get(schema, "type");
	if (depth > DEPTH_MAX)
		return say_problem(problem, name, "is nested too deeply");
	if (!fits_type(type, value)) {
		const char *only = json_string_value(type);
		snprintf(what, sizeof what, "must be of type %s", only ? only : "string or null");
		return say_problem(problem, name, what);
	}
	if (!fits_enum(json_object_get(schema, "enum"), value)) {
		char *values = json_dumps(json_object_get(schema, "enum"), JSON_COMPACT);
		snprintf(what, sizeof what, "must be one of %.120s", values ? values : "");
		free(values);
		return say_problem(problem, name, what);
	}
	if (json_is_integer(value) &&
		!is_within(schema, "minimum", "maximum", json_integer_value(value)))
		return say_problem(problem, name, "is out of range");
	if (!fits_any(json_object_get(schema, "anyOf"), value))
		return say_problem(problem, name, "is of the wrong type");
	if (json_is_array(value))
		return check_array(schema, value, name, depth, problem);
	if (json_is_object(value))
		return check_object(schema, value, name, depth, problem);
	return true;
}

bool mcp_schema_check(
	const json_t *schema, json_t *value, const char *name, char problem[MCP_PROBLEM_SIZE])
{
	return check_value(schema, value, name, 0, problem);
}
