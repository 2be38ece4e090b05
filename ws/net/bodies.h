/* Memory accounting for all request bodies that are being received, and their minimum rate. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BODIES_MAX ((size_t)64 << 20)          /* bytes of all bodies being received */
#define BODIES_ANONYMOUS_MAX ((size_t)8 << 20) /* of those, of requests without credentials */
#define BODY_ANONYMOUS_MAX ((size_t)16 << 10)  /* bytes of one body without credentials */
#define DISCARD_MAX ((size_t)16 << 20)         /* bytes that are read and thrown away at most */
#define BODY_RATE_MIN 4096u    /* bytes per second, on average, after the grace time */
#define BODY_WITHIN_MS 600000u /* for a whole body, however fast it comes */

/* What is reserved, in bytes. */
struct bodies {
	size_t held, anonymous;
	uint64_t *gauge; /* held, for /metrics */
};

/* Reserve length bytes. Returns false if a limit would be exceeded. */
bool bodies_reserve(struct bodies *b, size_t length, bool anonymous);

/* Give back what bodies_reserve() has reserved. */
void bodies_release(struct bodies *b, size_t length, bool anonymous);

/* Whether done bytes in ms milliseconds are fewer than BODY_RATE_MIN demands after the first grace_ms. */
bool bodies_is_slow(uint64_t ms, uint64_t grace_ms, uint64_t done);
