/*
 * Attempt: work that may never end, done by a thread and waited for. It is for what the kernel makes a reader of /proc wait for
 * while a program is being executed (pty/proc/proc.h). Work that hangs is left behind with its thread, which ends when it does.
 *
 * Work has a key, such as the session whose programs are looked at. Nothing is attempted with a key of which an attempt hangs,
 * nor for ATTEMPT_REST_MS after one did, or after its attempts have taken more than their share of such a time. So a session
 * whose programs hang or delay on purpose loses its own looks, and the loop little time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTEMPT_STUCK_MS 20u  /* asleep in the kernel, and not to be woken, for so long: it hangs */
#define ATTEMPT_MAX_MS 1000u  /* of anything else, as of a machine that has no time for it */
#define ATTEMPT_REST_MS 1000u /* see above */
#define ATTEMPT_KEYS_MAX 1024u /* that are known; of others, nothing is attempted then */

struct attempt;
struct attempt_key;

/* What attempts share; used by one thread at a time. Zeroed memory is one, to be given to attempts_finish(). */
struct attempts {
	unsigned share_ms;    /* of ATTEMPT_REST_MS, for each key; 0: all of it */
	struct attempt *idle; /* a thread that waits for work; NULL: there is none */
	struct attempt_key *keys;
};

struct attempt_call {
	pid_t key;
	/* On the thread. data: a copy of what is given here, which comes back unless it is left behind. */
	void (*work)(struct attempt *t, void *data);
	/* On the thread, when that copy will not come back, perhaps without the work: close what it has. NULL: it has nothing. */
	void (*discard)(void *data);
};

/* What hangs is left to itself, with memory of its own only. */
void attempts_finish(struct attempts *a);

/*
 * Do work with size bytes of data, and wait for it. Returns 0, -EBUSY when the key rests, -ETIMEDOUT when the work hangs, -EUSERS
 * when there are too many keys, or another negative errno when there is no thread to be had. On error data is as it was.
 */
int attempt_make(struct attempts *a, const struct attempt_call *call, void *data, size_t size);

/*
 * In the work: hold and release what it shares with the thread that waits for it, which goes on waiting meanwhile. Returns
 * false, with nothing held, once it is left behind. t: NULL outside of an attempt, which holds nothing.
 */
bool attempt_hold(struct attempt *t);
void attempt_release(struct attempt *t);

/* In the work: for how long it has been waited for. NULL: 0. */
uint64_t attempt_age_ms(const struct attempt *t);
