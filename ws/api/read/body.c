/* Fields of a request's body. Whoever finds one wrong has answered the request, and says so by returning false. */
#include "ws/api/read/body.h"

#include "shell/environment.h"
#include "shell/store/directory.h"
#include "ws/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

json_t *body_read(struct request *r)
{
	json_error_t error;
	if (r->body_length == 0)
		return json_object();
	json_t *body = json_loadb(
		r->body, r->body_length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (json_is_object(body))
		return body;
	reply_invalid(r, "body",
		body ? "The body is not a JSON object" : "The body is not valid JSON", "invalid");
	json_decref(body);
	return NULL;
}

bool body_text(struct request *r, const json_t *body, const char *field, const char **ret_text)
{
	const json_t *value = json_object_get(body, field);
	*ret_text = NULL;
	if (!value || json_is_null(value))
		return true;
	const char *text = json_string_value(value);
	if (!text || strlen(text) != json_string_length(value)) {
		reply_invalid(
			r, field, text ? "Must not contain NUL" : "Must be a string", "invalid");
		return false;
	}
	*ret_text = text;
	return true;
}

bool body_number(struct request *r, const json_t *body, const char *field, uint64_t min,
	uint64_t max, uint64_t *ret_number)
{
	const json_t *value = json_object_get(body, field);
	if (!value || json_is_null(value))
		return true;
	json_int_t number = json_integer_value(value);
	if (!json_is_integer(value) || number < 0 || (uint64_t)number < min ||
		(uint64_t)number > max) {
		reply_invalid(r, field, "Must be a whole number within the limits", "invalid");
		return false;
	}
	*ret_number = (uint64_t)number;
	return true;
}

bool body_environment(struct request *r, const json_t *body, struct body_environment *e)
{
	json_t *env = json_object_get(body, "env"), *value;
	const char *name;
	e->count = 0;
	if (!env || json_is_null(env))
		return true;
	if (!json_is_object(env) || json_object_size(env) > BODY_ENV_MAX) {
		reply_invalid(r, "env", "Must be an object of at most 256 strings", "invalid");
		return false;
	}
	json_object_foreach (env, name, value) {
		const char *text = json_string_value(value);
		if (!environment_name_is_valid(name) || !text ||
			strlen(text) != json_string_length(value)) {
			reply_invalid(r, "env",
				"Must map names of variables to strings without NUL", "invalid");
			return false;
		}
		e->names[e->count] = name;
		e->values[e->count++] = text;
	}
	return true;
}

bool body_flag(struct request *r, const json_t *body, const char *field, bool *ret_flag)
{
	const json_t *value = json_object_get(body, field);
	if (!value || json_is_null(value))
		return true;
	if (!json_is_boolean(value)) {
		reply_invalid(r, field, "Must be true or false", "invalid");
		return false;
	}
	*ret_flag = json_boolean_value(value);
	return true;
}

bool body_command(
	struct request *r, const json_t *body, const char **ret_command, size_t *ret_length)
{
	const json_t *value = json_object_get(body, "command");
	const char *text = json_string_value(value);
	*ret_command = text;
	*ret_length = json_string_length(value);
	if (!text)
		reply_invalid(r, "command", "A command is required", value ? "invalid" : "required");
	else if (strlen(text) != *ret_length)
		reply_error(r, "INVALID_COMMAND", "A command must not contain NUL", NULL);
	else if (text[strspn(text, " \t\r\n")] == '\0')
		reply_error(r, "INVALID_COMMAND", "The command is blank", NULL);
	else
		return true;
	return false;
}

bool body_absolute(struct request *r, const char *cwd)
{
	if (!cwd || (cwd[0] == '/' && strlen(cwd) < BODY_PATH_MAX))
		return true;
	reply_invalid(r, "cwd", "The working directory must be an absolute path", "invalid");
	return false;
}

bool body_directory(struct request *r, const char *cwd)
{
	char message[4400];
	int rc = cwd ? directory_check(cwd) : 0;
	if (rc == 0)
		return true;
	const char *problem = rc == -EINVAL ? "it is not absolute" : error_text(rc);
	snprintf(message, sizeof message, "The working directory '%s' cannot be entered: %s", cwd,
		problem);
	reply_invalid(r, "cwd", message, "invalid");
	return false;
}
