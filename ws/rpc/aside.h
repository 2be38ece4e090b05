/*
 * Long JSON that a thread of libuv's reads and writes, for which the loop would stand still. One of them is under way, or none;
 * zeroed memory is none.
 */
#pragma once

#include "ws/request.h"

#include <jansson.h>
#include <stddef.h>
#include <uv.h>

#define ASIDE_MIN ((size_t)64 << 10) /* bytes of it, about, below which the loop is as good */

struct aside;

/* What has been read, or NULL: none; it is the caller's. Comes later, and not after aside_forget(). */
typedef void (*aside_read_done)(void *user, json_t *json);
/* What has been written, or NULL: memory was short; it is the caller's. */
typedef void (*aside_written_done)(void *user, char *text, size_t length);

/* Read the body of a reply. Returns NULL when memory is short: nothing has begun. */
struct aside *aside_read(uv_loop_t *loop, struct request *r, aside_read_done done, void *user);

/* Write a message, which nobody changes any more, and of which a reference is taken. The same. */
struct aside *aside_write(uv_loop_t *loop, json_t *message, aside_written_done done, void *user);

/* Nobody waits for it any more; NULL is fine. */
void aside_forget(struct aside *a);

/* What reading a reply's body, and writing a message, is on the loop. */
json_t *aside_read_now(const struct reply *reply);
char *aside_write_now(const json_t *message, size_t *ret_length);
