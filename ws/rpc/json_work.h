/*
 * Parsing and writing large JSON in a thread of libuv's pool, because it would block the event
 * loop. Smaller JSON is handled directly by json_work_read_now() and json_work_write_now().
 */
#pragma once

#include "ws/request.h"

#include <jansson.h>
#include <stddef.h>
#include <uv.h>

#define JSON_WORK_MIN \
	((size_t)64 << 10) /* approximate bytes of JSON from which a thread is worth it */

/* One job of the thread pool. */
struct json_work;

/* Called on the loop with the parsed JSON, owned by the callee; NULL: invalid JSON. */
typedef void (*json_work_read_done)(void *user, json_t *json);

/* Called on the loop with the text, owned by the callee; NULL: out of memory. */
typedef void (*json_work_written_done)(void *user, char *text, size_t length);

/* Parse the body of r's reply in a thread. Returns NULL and starts nothing if memory is short. */
struct json_work *json_work_read(
	uv_loop_t *loop, struct request *r, json_work_read_done done, void *user);

/*
 * Write a message in a thread. Takes a reference to message, which must not be modified any more.
 * Returns NULL and starts nothing if memory is short.
 */
struct json_work *json_work_write(
	uv_loop_t *loop, json_t *message, json_work_written_done done, void *user);

/* Drop the result: done() is not called. The thread still finishes. a: may be NULL. */
void json_work_detach(struct json_work *a);

/* Parse a reply's body on the calling thread. Returns a new reference; NULL: not JSON. */
json_t *json_work_read_now(const struct reply *reply);

/* Write a message on the calling thread. Returns text to be freed, or NULL if memory is short. */
char *json_work_write_now(const json_t *message, size_t *ret_length);
