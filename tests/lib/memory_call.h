/*
 * Requests to the API and their answers; tests/lib/memory_api.h includes this. Each answer is checked: an error has
 * {code, message, context, httpStatus, timestamp} and the status of its code, and api/openapi.json must name the code
 * for that route.
 */
#pragma once

#include "ws/request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum asker { BY_OWNER, BY_DRIVER, BY_VIEWER, BY_NOBODY };

struct ask {
	const char *line; /* "POST /api/session/create?a=b", the target as it is in HTTP */
	const char *body; /* NULL: none */
	size_t length;    /* of the body; 0: strlen(body) */
	enum asker by;
	const char *only; /* the session that the link is for; NULL: all */
	const char *hint; /* the header X-Session-Id */
};

/* A request that is pending or has been answered. */
struct call {
	struct call *next;
	struct request *request;
	char line[512];  /* for messages */
	bool answered;   /* completely */
	bool streaming;  /* the answer is a stream */
	bool more;       /* the stream has signalled more events */
	json_t *json;    /* of the answer if it is JSON, or of the last event */
	unsigned events; /* consumed */
};

/* Send a request without waiting for the answer. */
struct call *memory_api_ask(const struct ask *ask);

/* Send a request of the owner and wait for the answer. body: NULL, or JSON with ' instead of ". */
struct call *memory_api_call(const char *line, const char *body);

/* The same without waiting. */
struct call *memory_api_begin(const char *line, const char *body);

/* The same for a body as JSON, which it takes. */
struct call *memory_api_send(const char *line, json_t *body);

void call_await(struct call *c);

/* Wait for the answer, whose status and error code ("" for a success; NULL: any) must be these. */
void call_expect(struct call *c, int status, const char *code);

/*
 * Wait for the answer, whose JSON must have these values, see json_has() of tests/lib/json_text.h; of a stream, the
 * last event.
 */
void call_has(struct call *c, const char *json);

/* The same for an answer with the status 200. */
void call_returns(struct call *c, const char *json);

/* End the request, or disconnect its client, and free c. */
void call_end(struct call *c);

/* The answer's status, a header (or NULL), its error code (or ""), and the first field that is reported as wrong. */
int call_status(const struct call *c);
const char *call_header(const struct call *c, const char *name);
const char *call_code(const struct call *c);
const char *call_field(const struct call *c);

/* The body as it is. */
const char *call_body(const struct call *c);

/* Send a request of the owner without a body, whose line is formatted, and wait for the answer. */
__attribute__((format(printf, 1, 2))) struct call *memory_api_get(const char *format, ...);

/* A value of the JSON by its path, such as "data.0.id", or NULL. */
const json_t *call_get(const struct call *c, const char *path);

/* The value at a path. The test fails if it does not have this type. */
const char *call_text(const struct call *c, const char *path);
json_int_t call_number(const struct call *c, const char *path);
bool call_is_true(const struct call *c, const char *path);
bool call_is_null(const struct call *c, const char *path);

/* Wait for the next event with this "type" (NULL: any). Returns false if the stream ends before. */
bool call_event(struct call *c, const char *type);

/* Wait for the next event with this type, which must have these values, see call_has(). */
void call_event_has(struct call *c, const char *type, const char *json);

/* Send a request of the owner, which must be answered with the status 200 and these values, see call_has(). */
void memory_api_check(const char *line, const char *body, const char *json);

/* Tables */

/* How a request must be refused. field: the field that is wrong; NULL: not checked. */
struct refused {
	const char *line, *body; /* as memory_api_call() */
	int status;
	const char *code, *field;
	enum asker by;
};

#define INVALID 400, "VALIDATION_FAILED" /* status and code of a row */

/* Send all, one after another, and check that each is refused in this way. Refused requests change nothing. */
void memory_api_expect_refused(const struct refused *cases, size_t count);
#define EXPECT_REFUSED(cases) memory_api_expect_refused(cases, sizeof(cases) / sizeof *(cases))

/*
 * Each text begins with the name of a field with an invalid value: such a request must be refused for this field, whose
 * reported name begins with `in`. The body is begins, the text and the closing brackets; if begins is NULL, the text
 * ends the line, and a path may precede its query.
 */
void memory_api_expect_invalid(
	const char *in, const char *line, const char *begins, const char *const *texts);
#define EXPECT_INVALID_IN(in, line, begins, ...) \
	memory_api_expect_invalid(in, line, begins, (const char *const[]){__VA_ARGS__, NULL})
#define EXPECT_INVALID(line, begins, ...) EXPECT_INVALID_IN("", line, begins, __VA_ARGS__)

/*
 * A field of this many characters must be refused. The body is begins, which may have other fields, the field, and a
 * brace.
 */
void memory_api_expect_too_long(
	const char *line, const char *begins, const char *field, size_t length);

/* Send a request of the owner and return the status of the answer. */
int memory_api_status(const char *line, const char *body);

/* As long as names and most ids may be. */
#define LONG_128                                                           \
	"0123456789012345678901234567890123456789012345678901234567890123" \
	"0123456789012345678901234567890123456789012345678901234567890123"
