/* See field_names.h. */
#include "ws/mcp/field_names.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define DEPTH_MAX 16u /* of JSON in which members are renamed */

static void to_snake_case(const char *camel, char ret_snake[MCP_FIELD_SIZE])
{
	size_t n = 0;
	for (; *camel && n < MCP_FIELD_SIZE - 3; camel++) {
		if (isupper((unsigned char)*camel))
			ret_snake[n++] = '_';
		ret_snake[n++] = (char)tolower((unsigned char)*camel);
	}
	ret_snake[n] = '\0';
}

void mcp_camel_case(const char *snake, char ret_camel[MCP_FIELD_SIZE])
{
	size_t n = 0;
	for (; *snake && n < MCP_FIELD_SIZE - 2; snake++)
		if (*snake == '_' && snake[1])
			ret_camel[n++] = (char)toupper((unsigned char)*++snake);
		else
			ret_camel[n++] = *snake;
	ret_camel[n] = '\0';
}

static json_t *copy_in_snake_case(json_t *value, unsigned depth)
{
	size_t i;
	const char *key;
	json_t *one, *copy;
	char name[MCP_FIELD_SIZE];
	if (depth > DEPTH_MAX || (!json_is_object(value) && !json_is_array(value)))
		return json_incref(value);
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach (value, i, one)
			json_array_append_new(copy, copy_in_snake_case(one, depth + 1));
		return copy;
	}
	copy = json_object();
	json_object_foreach (value, key, one) {
		to_snake_case(key, name);
		json_object_set_new(copy, name, copy_in_snake_case(one, depth + 1));
	}
	return copy;
}

json_t *mcp_snake_case(json_t *value)
{
	return value ? copy_in_snake_case(value, 0) : NULL;
}

/* Arguments whose name is not that of the API's field in snake_case. */
static const struct {
	const char *tool, *api, *argument;
} arguments[] = {
	{"exec_command", "command", "cmd"},
	{"exec_command", "cwd", "workdir"},
	{"history", "from", "from_line"},
	{"history", "q", "search"},
	{"history", "status", "exit_code"},
	{"history", "to", "to_line"},
	{"lease", "id", "lease"},
	{"lease", "renew", "lease"},
	{"session_create", "id", "session_id"},
	{"wait", "id", "exec_id"},
	{"write_stdin", "data", "chars"},
};

/* The name of the argument for a field of the API, which may be a member of one (until[0].id). A new reference. */
static json_t *argument_name(const char *tool, const char *field)
{
	char name[MCP_FIELD_SIZE];
	const char *dot = strrchr(field, '.'), *last = dot ? dot + 1 : field;
	for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
		if (strcmp(tool, arguments[i].tool) == 0 && strcmp(last, arguments[i].api) == 0)
			return json_sprintf(
				"%.*s%s", (int)(last - field), field, arguments[i].argument);
	to_snake_case(last, name);
	return json_sprintf("%.*s%s", (int)(last - field), field, name);
}

void mcp_rename_fields(const char *tool, const json_t *errors)
{
	size_t i;
	json_t *error;
	json_array_foreach (errors, i, error) {
		const char *field = json_string_value(json_object_get(error, "field"));
		if (field)
			json_object_set_new(error, "field", argument_name(tool, field));
	}
}
