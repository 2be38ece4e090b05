/*
 * Fields of a request's JSON body. Functions that take the request answer it if the field is invalid, with
 * VALIDATION_FAILED unless said otherwise, and return false. Unless said otherwise, an absent or null field returns
 * true and leaves *ret_… as it is. Returned texts are borrowed from the body.
 */
#pragma once

#include "ws/request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The Sandbox client's `sessionId` for no session. */
#define BODY_NO_SESSION "__DISABLE_SESSION__"

/* Bytes of a path with its NUL. */
#define BODY_PATH_MAX 4096u

/* A year: the longest time limit of what is not bound to a session's shell. */
#define BODY_TIME_MAX_MS (UINT64_C(365) * 24 * 3600 * 1000)

/*
 * Parse JSON. Returns a new reference; NULL if the text is invalid, has a duplicate name, or, with *ret_short set, if
 * memory is short. Thread-safe.
 */
json_t *body_parse(const char *text, size_t length, bool *ret_short);

/*
 * The body as a JSON object; an empty body is an empty object. Borrowed until the handler returns, or, if it has
 * returned already, as long as r lives. NULL if r has been answered.
 */
json_t *body_read(struct request *r);

/*
 * A text field; *ret_text is NULL if it is absent or null. Returns false if it is not a string or has a NUL; answers
 * nothing.
 */
bool body_find_text(const json_t *body, const char *field, const char **ret_text);

/* Like body_argv() for the field `shellArgs`, arguments of a shell. The list and its strings may be empty. */
bool body_shell_arguments(
	struct request *r, const json_t *body, size_t max, size_t bytes, const char ***ret_words);

/*
 * The field `argv`: a program and its arguments, at most max strings and, with their NULs, at most `bytes` bytes.
 * *ret_argv is NULL if the field is absent; otherwise the caller frees the array. The error is INVALID_COMMAND.
 */
bool body_argv(
	struct request *r, const json_t *body, size_t max, size_t bytes, const char ***ret_argv);

/* A text field; *ret_text is NULL if it is absent. */
bool body_text(struct request *r, const json_t *body, const char *field, const char **ret_text);

/* A whole number from min to max. */
bool body_number(struct request *r, const json_t *body, const char *field, uint64_t min,
	uint64_t max, uint64_t *ret_number);

/* A boolean. */
bool body_flag(struct request *r, const json_t *body, const char *field, bool *ret_flag);

/* The field "command", which is required. The error is INVALID_COMMAND if it is blank or has a NUL. */
bool body_command(
	struct request *r, const json_t *body, const char **ret_command, size_t *ret_length);

#define BODY_ENV_MAX 256u

/* Environment variables; names and values are borrowed from the body. */
struct body_environment {
	const char *names[BODY_ENV_MAX], *values[BODY_ENV_MAX];
	size_t count;
};

/* Parse an object of strings; NULL and null are empty. Returns NULL, or a message that says what is wrong. Pure. */
const char *body_environment_parse(const json_t *env, struct body_environment *ret_environment);

/* An object of strings; empty if it is absent. */
bool body_environment(struct request *r, const json_t *body, const char *field,
	struct body_environment *ret_environment);

/* Check that the field "cwd" is NULL or an absolute path of less than BODY_PATH_MAX bytes. */
bool body_absolute(struct request *r, const char *cwd);

/* body_absolute(), and r->directory says that the directory can be entered. */
bool body_directory(struct request *r, const char *cwd);
