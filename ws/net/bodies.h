/*
 * Room for the bodies of requests that are being received, in bytes, for all of them together; and how
 * slowly they may come. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BODIES_MAX ((size_t)64 << 20)          /* bytes announced by all bodies under way */
#define BODIES_ANONYMOUS_MAX ((size_t)8 << 20) /* of those, of requests without credentials */
#define BODY_ANONYMOUS_MAX ((size_t)16 << 10)  /* of such a request; what is more is not kept */
#define DISCARD_MAX ((size_t)16 << 20)         /* that is read of a body which nobody wants */
#define BODY_RATE_MIN 4096u    /* bytes a second, on average, after the first moments */
#define BODY_WITHIN_MS 600000u /* however fast it comes */

struct bodies {
	size_t held, anonymous;
	uint64_t *gauge; /* held, for /metrics */
};

/* Take room for a body. Returns false when there is not enough. */
bool bodies_take(struct bodies *b, size_t length, bool anonymous);
void bodies_give(struct bodies *b, size_t length, bool anonymous);

/* Whether something is too slow of which done bytes have moved in ms; grace_ms: the first moments. */
bool bodies_is_slow(uint64_t ms, uint64_t grace_ms, uint64_t done);
