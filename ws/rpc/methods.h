/* The methods of the main object of /rpc: their requests to the API, results and errors. Pure. */
#pragma once

#include "ws/route.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METHODS_PATH_MAX 4096u /* of a file, with its NUL */
#define METHODS_PATH_SIZE (METHODS_PATH_MAX + 64u)

/* What the reply of the API becomes. */
enum method_answer {
	METHOD_JSON,     /* the result, possibly converted by `result` */
	METHOD_EVENTS,   /* a stream of server-sent events */
	METHOD_CALLBACK, /* calls of callback functions, one for each event */
	METHOD_BYTES,    /* a download: the member `content` of an object with its metadata */
	METHOD_NONE,     /* the method is not available */
};

/* How an error code of the API is renamed. */
struct method_error {
	const char *code; /* NULL: the end of the table */
	const char *becomes;
};

/* One method. */
struct method_row {
	const char *space, *name;
	enum method_answer answer;
	enum method verb;
	const char *path; /* "{}": the first argument, an id or port; "{path}": it is a file */
	/*
	 * For each argument, the member of the body that it becomes (for verbs other than POST: the
	 * query parameter). "*": the members of an object; "name{": an object as a whole;
	 * "-": ignored.
	 */
	const char *arguments;
	/*
	 * Convert the reply (JSON, borrowed) to the result, an expression, a new reference. NULL:
	 * it is used as it is.
	 */
	json_t *(*result)(const json_t *answer, const json_t *arguments);
	const char *skipped; /* METHOD_EVENTS: type of events to leave out, or NULL */
	bool named;          /* METHOD_EVENTS: each event has an `event:` line with its type */
	const char *query;   /* additional query parameter "name=value", or NULL */
	unsigned stream; /* position (from 1) of the stream argument that is the body; 0: none */
	bool (*only)(const json_t *arguments); /* whether the row applies; NULL: always */
	const struct method_error *errors;     /* NULL: codes stay as they are */
};

/* Find a method, or with name NULL any method of the space. Returns NULL if there is none. */
const struct method_row *methods_find(const char *space, const char *name);

/* The row of a method that applies to these arguments. The method must exist. */
const struct method_row *methods_choose(
	const char *space, const char *name, const json_t *arguments);

/*
 * Make the path and the body of the request; for verbs other than POST the body has the members of
 * the query. arguments: a JSON array. Returns NULL, or the name of the invalid argument with
 * *ret_body NULL.
 */
const char *methods_request(const struct method_row *row, const json_t *arguments,
	char ret_path[METHODS_PATH_SIZE], json_t **ret_body);

/* The metadata of a download, an expression. Returns a new reference. */
json_t *methods_file(const json_t *arguments, uint64_t size, const char *type);

/*
 * The name of the callback function for an event (JSON text) of a METHOD_CALLBACK, and its arguments as an expression, a
 * new reference. Returns NULL if no function receives this event.
 */
const char *methods_callback(const char *event, json_t **ret_arguments);

/* The error that a reply stands for, an expression. body: may be NULL. A new reference. */
json_t *methods_error(const json_t *body, int status);

/* methods_error() with the codes renamed as row->errors says. */
json_t *methods_row_error(const struct method_row *row, const json_t *body, int status);
