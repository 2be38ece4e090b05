/*
 * Attempt: work that may block for ever, run on a thread with a timeout. The kernel blocks readers
 * of some /proc files while the program is being executed (see pty/proc/proc.h). Work that hangs is
 * abandoned together with its thread, which exits when the work returns.
 *
 * Each attempt has a key, such as the pid of a session's holder. attempt_run() refuses a key while
 * one of its attempts hangs, for ATTEMPT_REST_MS after that, and for ATTEMPT_REST_MS after its
 * attempts have used up their share of time. So a session with programs that block on purpose loses
 * only its own attempts and costs the loop little time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTEMPT_STUCK_MS 20u   /* work in uninterruptible sleep for this long counts as hung */
#define ATTEMPT_MAX_MS 1000u   /* limit for all other work, for example on an overloaded machine */
#define ATTEMPT_REST_MS 1000u  /* how long a key is refused, see above */
#define ATTEMPT_KEYS_MAX 1024u /* keys that are remembered; further keys are refused */

struct attempt;
struct attempt_key;

/* State shared by attempts; not thread-safe. Starts zeroed; free it with attempts_finish(). */
struct attempts {
	unsigned share_ms;    /* time allowed per key and ATTEMPT_REST_MS; 0: no limit */
	struct attempt *idle; /* a thread that waits for work, or NULL */
	struct attempt_key *keys;
};

/* What attempt_run() runs. */
struct attempt_call {
	pid_t key;
	/*
	 * Runs on the thread. data: a copy, which is copied back unless the attempt is abandoned.
	 */
	void (*work)(struct attempt *t, void *data);
	/*
	 * On the thread, if abandoned, perhaps before work(): release what data owns. May be NULL.
	 */
	void (*discard)(void *data);
};

/* Free everything except hung attempts, which own their memory and free it when they return. */
void attempts_finish(struct attempts *a);

/*
 * Run the work with size bytes of data and wait for it. Returns 0, -EBUSY when the key is refused
 * for now, -ETIMEDOUT when the work hangs, -ERR_LIMIT when there are too many keys, or another
 * negative errno when no thread could be started. On error data is unchanged.
 */
int attempt_run(struct attempts *a, const struct attempt_call *call, void *data, size_t size);

/*
 * Called by the work: lock what it shares with the waiting thread, which cannot abandon the attempt
 * meanwhile. Returns false, without the lock, if the attempt has been abandoned. t: NULL outside of
 * an attempt; then nothing is locked.
 */
bool attempt_lock(struct attempt *t);

/* Undo attempt_lock(). */
void attempt_unlock(struct attempt *t);

/* Called by the work: time since attempt_run() started it. NULL: 0. */
uint64_t attempt_age_ms(const struct attempt *t);
