/*
 * The main objects of /rpc: which method is which request to the API, and what its answer is to the caller. Pure.
 *
 * There are two: that of the container, and that of the Sandbox's preview ("next"), whose client makes itself known by
 * utils.activateControlSession(). Before that, what only the second has is refused.
 */
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
	METHOD_SUBSCRIBE, /* events, as an object: stream() gives them, once, and cancel() ends them */
	METHOD_STREAM,    /* these two */
	METHOD_CANCEL,
	METHOD_OWN,  /* no request is needed */
	METHOD_NONE, /* it is not served */
};

#define METHODS_SUBSCRIPTION "(subscription)" /* the space of such objects */

/* What an error of the API is to the caller. */
struct method_error {
	const char *code;    /* NULL: the end of the table */
	const char *field;   /* of VALIDATION_FAILED; NULL: any */
	const char *becomes; /* another code; METHOD_NULL or METHOD_NOTHING: no error, but that */
};
#define METHOD_NULL "null"
#define METHOD_NOTHING "undefined"

/* What METHOD_OWN may know. */
struct method_self {
	const char *incarnation; /* of the runtime */
	const char *version;
	bool active;  /* the caller speaks as the preview's client; may be set */
	bool tunnels; /* it has asked for tunnels, and is told of their ends */
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
	/* Make the body what the API takes, when it has been put together. Returns NULL, or which argument is wrong. */
	const char *(*mend)(json_t *body, const json_t *arguments);
	const struct method_error *errors; /* NULL: as they are */
	/* METHOD_SUBSCRIBE: the value that an event is, for who asked with that first argument; NULL: none. Not given: text. */
	json_t *(*event)(const json_t *event, const char *id);
	/* METHOD_OWN: the result, or an error: expressions. */
	json_t *(*own)(struct method_self *self, const json_t *arguments, json_t **ret_error);
	bool sessionless; /* it is about no session, but for who has one alone */
	bool next;        /* it is one of the preview's */
};

/*
 * active: of the preview's main object. NULL: there is none. name NULL: any method of that space. Of the container's, also
 * what only the preview's has, to be refused.
 */
const struct method_row *methods_find(bool active, const char *space, const char *name);

/* The one that is meant with these arguments; methods_find() has found one. */
const struct method_row *methods_choose(
	bool active, const char *space, const char *name, const json_t *arguments);

/* The rows of the preview's main object, ended by one without a space; see ws/rpc/next.c. */
extern const struct method_row methods_next[];

/* Results that both have */
json_t *methods_result_ping(const json_t *answer, const json_t *arguments);
json_t *methods_result_nothing(const json_t *answer, const json_t *arguments);
json_t *methods_result_streamed(const json_t *answer, const json_t *arguments);
json_t *methods_result_renamed(const json_t *answer, const json_t *arguments);
/* Of writeFile(path, content, options). */
json_t *methods_written(const json_t *answer, const json_t *content, const json_t *options);
/* To who reads a file a directory is none, as it is when it is read as text. */
extern const struct method_error methods_errors_no_file[];
/* Whether a file is asked for as it is. */
bool methods_asks_for_bytes(const json_t *arguments);

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

/*
 * The same of a row. Where it is none to the caller, returns NULL and *ret_result is what it is instead. id: the first
 * argument, or NULL.
 */
json_t *methods_failure(const struct method_row *row, const char *id, const json_t *body,
	int status, json_t **ret_result);
