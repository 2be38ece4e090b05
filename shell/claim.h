/*
 * On whose behalf something is done that outlasts the call which asked for it: a wait, a command in the queue. Who asks
 * knows by it when that is over, and can put an end to it. What a principal is, and what it may have, is no business of
 * those who do it.
 */
#pragma once

struct claim {
	/* It is over, or has begun and goes on by itself: once, unless the claim was not taken. It frees the claim. */
	void (*released)(struct claim *c);
	/* Set by who has taken it: end what it is for; released() comes from inside. */
	void (*withdraw)(struct claim *c);
	void *of; /* theirs, too */
	/* Whose it is: claims that are equal here are of one principal, "" the owners'. Never NULL. */
	const char *who;
	/* By what it was asked for: claims that are equal here are withdrawn together. Never NULL. */
	const char *by;
	struct claim *next; /* theirs, too: another for the same thing */
};

/* What the claim of something is for is over; *c may be NULL, and is NULL then. */
static inline void claim_release(struct claim **c)
{
	struct claim *released = *c;
	*c = 0;
	if (released)
		released->released(released);
}
