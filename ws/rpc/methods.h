/* The main object of /rpc: which method is which request to the API, and what its answer is to the caller. Pure. */
#pragma once

#include "ws/route.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METHODS_PATH_MAX 4096u /* of a file, with its NUL */
#define METHODS_PATH_SIZE (METHODS_PATH_MAX + 64u)

/* What becomes of the answer. */
enum method_answer {
	METHOD_JSON,     /* is the result, perhaps changed by `result` */
	METHOD_EVENTS,   /* a stream of server-sent events */
	METHOD_CALLBACK, /* the same, told to functions of the caller's */
	METHOD_BYTES,    /* a download: the member `content` of an object that tells of it */
	METHOD_NONE,     /* it is not available */
};

/* What an error of the API is to the caller. */
struct method_error {
	const char *code; /* NULL: the end of the table */
	const char *becomes;
};

struct method_row {
	const char *space, *name;
	enum method_answer answer;
	enum method verb;
	const char *path; /* "{}" is the first argument, an id; "{path}" the same, the path of a file */
	/*
	 * The members of the body, or but for POST of the query, argument by argument: a name; "*" takes those of an object;
	 * "name{" an object as a whole; "-" is none.
	 */
	const char *arguments;
	/* The result, of the answer, which is borrowed, and the arguments, as JSON; NULL: as it is. A new reference: an expression. */
	json_t *(*result)(const json_t *answer, const json_t *arguments);
	const char *skipped; /* METHOD_EVENTS: the type of events that are left out, or NULL */
	bool named;          /* METHOD_EVENTS: with their types as their names */
	const char *query;   /* of the request, besides: "name=value", or NULL */
	unsigned stream;     /* which argument is a stream, the body of the request; 0: none */
	bool (*only)(const json_t *arguments); /* with which arguments it is meant; NULL: with any */
	const struct method_error *errors;     /* NULL: as they are */
};

/* NULL: there is none. name NULL: any method of that space. */
const struct method_row *methods_find(const char *space, const char *name);

/* The one that is meant with these arguments; methods_find() has found one. */
const struct method_row *methods_choose(
	const char *space, const char *name, const json_t *arguments);

/*
 * The request: its path, and its body, or but for POST what its query is made of. arguments: JSON, an array. Returns NULL,
 * or the name of the argument that is wrong; then *ret_body is NULL.
 */
const char *methods_request(const struct method_row *row, const json_t *arguments,
	char ret_path[METHODS_PATH_SIZE], json_t **ret_body);

/* What is told of a file whose bytes follow as a stream. Returns a new reference: an expression. */
json_t *methods_file(const json_t *arguments, uint64_t size, const char *type);

/* The error that an answer is: an expression. status: HTTP. body: may be NULL. Returns a new reference. */
json_t *methods_error(const json_t *body, int status);

/* The same, of a row whose errors may have other codes. */
json_t *methods_failure(const struct method_row *row, const json_t *body, int status);
