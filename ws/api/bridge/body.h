/* Request bodies that are received as a whole: files and archives. */
#pragma once

#include "ws/request.h"

#include <stddef.h>
#include <stdint.h>

#define BRIDGE_BODY_MAX ((uint64_t)32 << 20) /* bytes */
#define BRIDGE_BODIES_MAX 8u                 /* in memory at once */

struct bridge;

/* Gets a complete body. bytes and user: owned; bytes are freed by bridge_body_free(). */
typedef void bridge_body_fn(struct request *r, void *user, char *bytes, size_t length);

/*
 * Receive the body of r, of a route with `.upload`, and call whole. If the body does not arrive, r
 * has been answered or its client has disconnected, and user is free()d.
 */
void bridge_body_receive(struct bridge *b, struct request *r, bridge_body_fn *whole, void *user);

/* Free the bytes of a body. */
void bridge_body_free(struct bridge *b, char *bytes);
