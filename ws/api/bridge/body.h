/* Bodies of the bridge that are taken whole: files and archives of up to BRIDGE_BODY_MAX bytes. */
#pragma once

#include "ws/request.h"

#include <stddef.h>
#include <stdint.h>

#define BRIDGE_BODY_MAX ((uint64_t)32 << 20)
#define BRIDGE_BODIES_MAX 8u /* that are there at once */

struct bridge;

/*
 * Take the body of r, of a route with `.upload`. whole: gets it, owned, and user; what has been taken is given back by
 * bridge_body_done(). Where it does not come, r has been answered, or nobody waits for an answer, and user is free()d.
 */
typedef void bridge_body_fn(struct request *r, void *user, char *bytes, size_t length);
void bridge_body_take(struct bridge *b, struct request *r, bridge_body_fn *whole, void *user);
void bridge_body_done(struct bridge *b, char *bytes);
