/* Fields of a request's body. */
#include "ws/api/read/body.h"

#include "shell/environment.h"
#include "shell/json_read.h"
#include "shell/own_error.h"
#include "shell/store/directory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *body_parse(const char *text, size_t length, bool *ret_short)
{
	return json_read(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, ret_short);
}

json_t *body_read(struct request *r)
{
	bool is_short = false;
	if (!r->json && !r->parsed)
		r->parsed = r->body_length == 0 ? json_object()
						: body_parse(r->body, r->body_length, &is_short);
	json_t *body = r->json ? r->json : r->parsed;
	if (json_is_object(body))
		return body;
	if (is_short || (!body && r->body_length == 0))
		reply_error(r, "OUT_OF_MEMORY", "Out of memory", NULL);
	else
		reply_invalid(r, "body",
			body ? "The body is not a JSON object" : "The body is not valid JSON",
			"invalid");
	return NULL;
}

bool body_find_text(const json_t *body, const char *field, const char **ret_text)
{
	const json_t *value = json_object_get(body, field);
	const char *text = json_string_value(value);
	*ret_text = text;
	if (!value || json_is_null(value) || (text && strlen(text) == json_string_length(value)))
		return true;
	*ret_text = NULL;
	return false;
}

bool body_text(struct request *r, const json_t *body, const char *field, const char **ret_text)
{
	return body_find_text(body, field, ret_text) ||
		reply_invalid(r, field,
			json_is_string(json_object_get(body, field)) ? "Must not contain NUL"
								     : "Must be a string",
			"invalid");
}

bool body_number(struct request *r, const json_t *body, const char *field, uint64_t min,
	uint64_t max, uint64_t *ret_number)
{
	char message[80];
	const json_t *value = json_object_get(body, field);
	if (!value || json_is_null(value))
		return true;
	json_int_t number = json_integer_value(value);
	if (!json_is_integer(value) || number < 0 || (uint64_t)number < min ||
		(uint64_t)number > max) {
		snprintf(message, sizeof message,
			"Must be a whole number from %" PRIu64 " to %" PRIu64, min, max);
		return reply_invalid(r, field, message, "invalid");
	}
	*ret_number = (uint64_t)number;
	return true;
}

const char *body_environment_parse(const json_t *env, struct body_environment *e)
{
	const char *name;
	json_t *value;
	e->count = 0;
	if (!env || json_is_null(env))
		return NULL;
	if (!json_is_object(env) || json_object_size(env) > BODY_ENV_MAX)
		return "Must be an object of at most 256 strings";
	json_object_foreach ((json_t *)env, name, value) {
		const char *text = json_string_value(value);
		if (!environment_name_is_valid(name) || !text ||
			strlen(text) != json_string_length(value))
			return "Must map variable names to strings without NUL";
		e->names[e->count] = name;
		e->values[e->count++] = text;
	}
	return NULL;
}

bool body_environment(
	struct request *r, const json_t *body, const char *field, struct body_environment *e)
{
	const char *problem = body_environment_parse(json_object_get(body, field), e);
	return !problem || reply_invalid(r, field, problem, "invalid");
}

bool body_flag(struct request *r, const json_t *body, const char *field, bool *ret_flag)
{
	const json_t *value = json_object_get(body, field);
	if (!value || json_is_null(value))
		return true;
	if (!json_is_boolean(value))
		return reply_invalid(r, field, "Must be true or false", "invalid");
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
		return reply_invalid(
			r, "command", "A command is required", value ? "invalid" : "required");
	if (strlen(text) != *ret_length)
		return reply_error(r, "INVALID_COMMAND", "A command must not contain NUL", NULL);
	if (text[strspn(text, " \t\r\n")] == '\0')
		return reply_error(r, "INVALID_COMMAND", "The command is blank", NULL);
	return true;
}

/*
 * The strings of a list, ended by NULL. The caller frees the array; the strings are borrowed. Returns NULL if the list
 * is invalid or memory is short.
 */
static const char **string_array(const json_t *list, size_t max, size_t bytes)
{
	size_t count = json_array_size(list), total = 0;
	const char **words = count > 0 && count <= max ? calloc(count + 1, sizeof *words) : NULL;
	for (size_t i = 0; words && i < count; i++) {
		const json_t *value = json_array_get(list, i);
		words[i] = json_string_value(value);
		total += json_string_length(value) + 1;
		if (!words[i] || strlen(words[i]) != json_string_length(value) || total > bytes) {
			free(words);
			words = NULL;
		}
	}
	return words;
}

bool body_shell_arguments(
	struct request *r, const json_t *body, size_t max, size_t bytes, const char ***ret_words)
{
	const json_t *list = json_object_get(body, "shellArgs");
	*ret_words = NULL;
	if (!list || json_is_null(list) || (json_is_array(list) && json_array_size(list) == 0))
		return true;
	*ret_words = string_array(list, max, bytes);
	if (!*ret_words)
		reply_invalid(r, "shellArgs",
			"The arguments of the shell must be strings without NUL, and not too many or too long",
			"invalid");
	return *ret_words;
}

bool body_argv(
	struct request *r, const json_t *body, size_t max, size_t bytes, const char ***ret_argv)
{
	const json_t *list = json_object_get(body, "argv");
	*ret_argv = NULL;
	if (!list || json_is_null(list))
		return true;
	const char **argv = string_array(list, max, bytes);
	if (argv && argv[0][0]) {
		*ret_argv = argv;
		return true;
	}
	free(argv);
	return reply_error(r, "INVALID_COMMAND",
		"argv must be a program and its arguments: strings without NUL, and not too many or too long",
		NULL);
}

bool body_absolute(struct request *r, const char *cwd)
{
	if (!cwd || (cwd[0] == '/' && strlen(cwd) < BODY_PATH_MAX))
		return true;
	return reply_invalid(r, "cwd", "The working directory must be an absolute path", "invalid");
}

bool body_directory(struct request *r, const char *cwd)
{
	char message[4400];
	int rc = cwd ? directory_check_cached(&r->directory, cwd) : 0;
	if (rc == 0)
		return true;
	const char *problem = rc == -EINVAL ? "it is not absolute" : error_text(rc);
	snprintf(message, sizeof message, "The working directory '%s' cannot be entered: %s", cwd,
		problem);
	return reply_invalid(r, "cwd", message, "invalid");
}
