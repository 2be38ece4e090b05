/* Calls at /rpc as requests, and answers as values. Input: [space, method, arguments, answer] in JSON. */
#include "tests/fuzz/fuzz.h"
#include "ws/rpc/methods.h"
#include "ws/rpc/wire.h"

#include <stdlib.h>

static void check_expression(json_t *value)
{
	json_t *plain = value ? wire_to_json(value) : NULL;
	json_decref(plain);
	json_decref(value);
}

static void check_method(const struct method_row *row, const json_t *arguments, const json_t *answer)
{
	static char path[METHODS_PATH_SIZE];
	json_t *body = NULL;
	if (!row->path)
		return;
	const char *problem = methods_request(row, arguments, path, &body);
	FUZZ_CHECK(problem ? !body
			   : json_is_object(body) && path[0] == '/' && strlen(path) < sizeof path);
	json_decref(body);
	if (row->result)
		check_expression(row->result(answer, arguments));
	json_t *error = methods_row_error(row, answer, 400);
	FUZZ_CHECK(error);
	json_decref(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *input = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);
	const char *space = json_string_value(json_array_get(input, 0));
	const char *name = json_string_value(json_array_get(input, 1));
	json_t *arguments = json_array_get(input, 2), *answer = json_array_get(input, 3);
	if (space && name && json_is_array(arguments) && json_is_object(answer) &&
		methods_find(space, name))
		check_method(methods_choose(space, name, arguments), arguments, answer);
	json_decref(input);
	return 0;
}
