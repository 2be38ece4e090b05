/*
 * Requests to the API as a test makes them, and their answers; see tests/lib/memory_api.h, which includes this.
 *
 * What every answer has to have is looked at here: an error is {code, message, context, httpStatus, timestamp} with the
 * status of its code, which api/openapi.json names for that route.
 */
#pragma once

#include "ws/request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum asker { BY_OWNER, BY_DRIVER, BY_VIEWER, BY_NOBODY };

struct ask {
	const char *line; /* "POST /api/session/create?a=b", decoded as HTTP's transport does */
	const char *body; /* NULL: none */
	size_t length;    /* of the body; 0: that of the string */
	enum asker by;
	const char *only; /* by a link for this session; NULL: for all */
	const char *hint; /* the header X-Session-Id */
};

/* A request that is under way, or has been answered. */
struct call {
	struct call *next;
	struct request *request;
	char line[512];  /* for messages */
	bool answered;   /* once */
	bool streaming;  /* the answer is a stream */
	bool more;       /* which has said that there is more */
	json_t *json;    /* the answer, or the last event, if it is JSON */
	unsigned events; /* that were taken */
};

/* Ask, and do not wait for the answer. */
struct call *memory_api_ask(const struct ask *ask);

/* As owner: ask, and wait for the answer. body: NULL, or JSON in which ' stands for ". */
struct call *memory_api_call(const char *line, const char *body);

/* The same, not waiting. */
struct call *memory_api_begin(const char *line, const char *body);

/* Wait for the answer. */
void call_await(struct call *c);

/* It is over, or its client has gone: c is freed. */
void call_end(struct call *c);

/* Of an answer: its status, a header (NULL: none), what error (""; none), the first field that is said to be wrong. */
int call_status(const struct call *c);
const char *call_header(const struct call *c, const char *name);
const char *call_code(const struct call *c);
const char *call_field(const struct call *c);

/* The body as it is. */
const char *call_body(const struct call *c);

/* A value of its JSON, by names and numbers between dots: "data.0.id". NULL: there is none. */
const json_t *call_get(const struct call *c, const char *path);

/* The same that must be text, a number, true or false: otherwise the test fails. */
const char *call_text(const struct call *c, const char *path);
json_int_t call_number(const struct call *c, const char *path);
bool call_is_true(const struct call *c, const char *path);
bool call_is_null(const struct call *c, const char *path);

/* The next event of a stream that has its "type" (NULL: any); waits for it. False: the stream has ended before. */
bool call_event(struct call *c, const char *type);

/* Tables */

/* What a request is refused with. field: the one that is wrong; NULL: whatever. */
struct refused {
	const char *line, *body; /* as memory_api_call() */
	int status;
	const char *code, *field;
	enum asker by;
};

/* Ask all, one after another; each must be refused so. Between two of them nothing has changed. */
void memory_api_expect_refused(const struct refused *cases, size_t count);
#define EXPECT_REFUSED(cases) memory_api_expect_refused(cases, sizeof(cases) / sizeof *(cases))

/* As owner, and wait: the status. */
int memory_api_status(const char *line, const char *body);

/* Texts that no field should fall over; and JSON that is no text, nor a number in its place. NULL-terminated. */
extern const char *const memory_api_hostile[];
