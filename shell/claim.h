/*
 * A claim: a pending request (a wait, a queued command) that outlives the call which made it. The requester uses it to
 * count requests against a principal's quota and to withdraw them; the code that serves the request does not interpret
 * the principal.
 */
#pragma once

/* One pending request. The requester owns the memory until released() is called. */
struct claim {
	/* The request is over, or goes on by itself. Called once, if the claim was accepted; frees the claim. */
	void (*released)(struct claim *c);
	/* Set by the code that accepts the claim: cancel the request. Calls released(). */
	void (*withdraw)(struct claim *c);
	void *of; /* private to the code that accepted the claim */
	/* The principal: claims with equal strings belong to one; "" is the owners. Never NULL. */
	const char *key;
	/* What the principal came by (a link, a login): claims with equal strings are withdrawn together. Never NULL. */
	const char *by;
	struct claim *next; /* private to the code that accepted the claim: list */
};

/* Release *c, if it is not NULL, and set it to NULL. */
static inline void claim_release(struct claim **c)
{
	struct claim *released = *c;
	*c = 0;
	if (released)
		released->released(released);
}
