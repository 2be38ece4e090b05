/* Fields of a request's body, JSON. What is borrowed from it lives as long as it does. */
#pragma once

#include "ws/request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BODY_NO_SESSION \
	"__DISABLE_SESSION__" /* what the published client sends in `sessionId` for none */

/* Text as a body's JSON: NULL when it is none, or names something twice. Also on a thread. */
json_t *body_parse(const char *text, size_t length, bool *ret_short);

/*
 * The request's body as a JSON object (an empty body is an empty object). Returns a new reference, or NULL
 * when it is none: then r has been answered.
 */
json_t *body_read(struct request *r);

/* A field of text; absent, or null: NULL and true. False when it is something else, or has a NUL. Answers nothing. */
bool body_find_text(const json_t *body, const char *field, const char **ret_text);

/*
 * The field `shellArgs`, likewise: of a shell, and there may be none, and empty ones. Wrong: r is answered
 * VALIDATION_FAILED.
 */
bool body_shell_arguments(
	struct request *r, const json_t *body, size_t max, size_t bytes, const char ***ret_words);

/*
 * The field `argv`: a program and its arguments, at most max of them and, with their NULs, bytes long. Absent: *ret_argv is
 * NULL, and true. Wrong: r is answered INVALID_COMMAND, and false returned. *ret_argv: the array is the caller's, to be
 * freed; what it points to is the body's.
 */
bool body_argv(
	struct request *r, const json_t *body, size_t max, size_t bytes, const char ***ret_argv);

/* A field of text; absent: NULL and true. Wrong type: r is answered and false returned. */
bool body_text(struct request *r, const json_t *body, const char *field, const char **ret_text);

/* A field that is a whole number from min to max; absent: *ret_number stays. Otherwise as body_text. */
bool body_number(struct request *r, const json_t *body, const char *field, uint64_t min,
	uint64_t max, uint64_t *ret_number);

/* A field that is true or false; absent: *ret_flag stays. Otherwise as body_text. */
bool body_flag(struct request *r, const json_t *body, const char *field, bool *ret_flag);

/* The field "command", which must be there, not be blank, and have no NUL. */
bool body_command(
	struct request *r, const json_t *body, const char **ret_command, size_t *ret_length);

/* The environment that a request asks for; names and values are borrowed from the body. */
#define BODY_ENV_MAX 256u
struct body_environment {
	const char *names[BODY_ENV_MAX], *values[BODY_ENV_MAX];
	size_t count;
};

/* Read one, an object of strings; NULL and null are an empty one. Returns NULL, or what is wrong with it. Pure. */
const char *body_environment_take(const json_t *env, struct body_environment *ret_environment);

/* The field "env", an object of strings. Returns false when it is wrong: then r has been answered. */
bool body_environment(
	struct request *r, const json_t *body, struct body_environment *ret_environment);

/* The same field by another name. */
bool body_environment_of(struct request *r, const json_t *body, const char *field,
	struct body_environment *ret_environment);

/* Whether the field "cwd" (NULL is fine) is an absolute path of less than BODY_PATH_MAX bytes; otherwise r has been answered. */
#define BODY_PATH_MAX 4096u
bool body_absolute(struct request *r, const char *cwd);

/* The same, and it is a directory that can be entered, as r->directory says. */
bool body_directory(struct request *r, const char *cwd);
