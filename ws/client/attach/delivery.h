/*
 * What has been typed and may not have arrived: each byte until the server gives a receipt for it. The server counts the bytes
 * of a client over all its connections to a session, so after one that was lost, or given up for another, it is known which
 * of them are to be sent again, and none arrives twice (ws/README.md, the terminal socket). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DELIVERY_MAX \
	65536u /* bytes that are kept; of more, without a receipt, the oldest are not sent again */

/* Zeroed memory is one in which nothing has been typed. */
struct delivery {
	uint64_t taken; /* bytes that have arrived, of all that were ever typed for this session */
	uint64_t from;  /* place of the first byte that is kept; at least taken */
	size_t length;  /* bytes that are kept */
	char bytes[DELIVERY_MAX];
};

/* Another session: counting begins anew, and nothing is kept. */
void delivery_clear(struct delivery *d);

/* length bytes are typed, and sent now or by delivery_resume(). */
void delivery_add(struct delivery *d, const char *bytes, size_t length);

/* So many bytes have arrived. */
void delivery_receipt(struct delivery *d, uint64_t taken);

/*
 * A new connection, on which so many bytes are known to have arrived by those before; known: false if that cannot be told.
 * What is kept then, d->bytes, is what has to be sent again, if anything; none is where that could come twice, or out of
 * its order. Returns whether there was something that will never arrive, or may not have.
 */
bool delivery_resume(struct delivery *d, bool known, uint64_t taken);

/* Nobody wants what is kept to arrive any more. Returns whether there was any. */
bool delivery_forget(struct delivery *d);
