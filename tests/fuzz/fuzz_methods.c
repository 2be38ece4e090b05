/*
 * What calls at /rpc become as requests, and answers and events as values. Input: [active, space, method, arguments, answer,
 * event], JSON.
 */
#include "tests/fuzz/fuzz.h"
#include "ws/rpc/methods.h"
#include "ws/rpc/wire.h"

#include <stdlib.h>

static void check_expression(json_t *value)
{
	json_t *plain = value ? wire_plain(value) : NULL;
	json_decref(plain);
	json_decref(value);
}

static void take(const struct method_row *row, const json_t *arguments, const json_t *answer,
	const json_t *event)
{
	static char path[METHODS_PATH_SIZE];
	json_t *body = NULL, *result = NULL, *error = NULL;
	const char *id = json_string_value(json_array_get(arguments, 0));
	struct method_self self = {.incarnation = "x", .version = "1"};
	if (row->answer == METHOD_OWN) {
		check_expression(row->own(&self, arguments, &error));
		json_decref(error);
		return;
	}
	if (!row->path)
		return;
	const char *problem = methods_request(row, arguments, path, &body);
	FUZZ_CHECK(problem ? !body
			   : json_is_object(body) && path[0] == '/' && strlen(path) < sizeof path);
	json_decref(body);
	if (row->result)
		check_expression(row->result(answer, arguments));
	if (row->event)
		check_expression(row->event(event, id ? id : ""));
	error = methods_failure(row, id, answer, 400, &result);
	FUZZ_CHECK(!error != !result);
	json_decref(error);
	json_decref(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *input = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);
	bool active = json_is_true(json_array_get(input, 0));
	const char *space = json_string_value(json_array_get(input, 1));
	const char *name = json_string_value(json_array_get(input, 2));
	json_t *arguments = json_array_get(input, 3), *answer = json_array_get(input, 4);
	const struct method_row *row = NULL;
	if (space && name && json_is_array(arguments) && json_is_object(answer) &&
		methods_find(active, space, name))
		row = methods_choose(active, space, name, arguments);
	if (row)
		take(row, arguments, answer, json_array_get(input, 5));
	json_decref(input);
	return 0;
}
