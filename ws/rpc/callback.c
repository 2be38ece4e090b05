/* The arguments have the shape that the SDK's HTTP client passes to the same functions. */
#include "ws/rpc/callback.h"

#include "shell/clock.h"
#include "shell/json_read.h"
#include "ws/rpc/wire.h"

#include <string.h>

/* An event's member, or else fallback, which is taken. Returns a new reference. */
static json_t *member(const json_t *event, const char *name, json_t *fallback)
{
	json_t *value = json_object_get(event, name);
	if (!value)
		return fallback;
	json_decref(fallback);
	return wire_from_json(value);
}

static json_t *output_of(const json_t *event)
{
	return json_pack("{s:o, s:o}", "text", member(event, "text", json_string("")), "timestamp",
		member(event, "timestamp", json_integer((json_int_t)clock_wall_ms())));
}

static json_t *error_of(const json_t *event)
{
	json_t *message = member(event, "message", json_string("Unknown error"));
	return json_pack("{s:o, s:o, s:o}", "name", member(event, "ename", json_string("Error")),
		"message", member(event, "evalue", message), "traceback",
		member(event, "traceback", json_pack("[[]]")));
}

static json_t *result_of(const json_t *event)
{
	json_t *result = wire_from_json(event);
	json_object_del(result, "type");
	return result;
}

const char *callback_of(const char *event, json_t **ret_arguments)
{
	static const struct {
		const char *type, *function;
		json_t *(*argument)(const json_t *event);
	} rows[] = {
		{"stdout", "onStdout", output_of},
		{"stderr", "onStderr", output_of},
		{"result", "onResult", result_of},
		{"error", "onError", error_of},
	};
	const char *function = NULL;
	json_t *json = json_read(event, strlen(event), JSON_ALLOW_NUL, NULL);
	const char *type = json_string_value(json_object_get(json, "type"));
	for (size_t i = 0; i < sizeof rows / sizeof *rows && type; i++) {
		if (strcmp(rows[i].type, type) != 0)
			continue;
		function = rows[i].function;
		*ret_arguments = json_pack("[[o]]", rows[i].argument(json));
	}
	json_decref(json);
	return function;
}
