/*
 * Reading and writing that never stops the server, on a descriptor of which somebody else has the file description as
 * well: O_NONBLOCK belongs to that, and may be gone at any moment. No flag of a single call does for all: a terminal knows no
 * RWF_NOWAIT, an eventfd knows it for reading only. So a timer interrupts what takes longer than TIMED_MS.
 *
 * One timer and one signal (SIGRTMAX - 1, which does nothing else) for each thread that comes here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TIMED_MS 50
/*
 * How often that may happen while O_NONBLOCK is set: to a server that was itself stopped in between, or with somebody
 * who sets it again before we look.
 */
#define TIMED_STALLS_MAX 5u
#define TIMED_FORGET_S 60u /* after which they are forgotten */

/* One descriptor; zero is one that has never blocked. */
struct timed {
	unsigned stalls;    /* times that it has taken too long, one soon after the other */
	uint64_t stalled_s; /* when the last of them was; monotonic */
	bool distrusted;    /* it has been made to block: it is neither read nor written any more */
};

/*
 * As write(2), but for what is written in parts. Returns bytes taken, -EAGAIN when it takes none now, -EDEADLK when it
 * has been made to block, or another negative errno.
 */
ssize_t timed_write(struct timed *g, int fd, const void *bytes, size_t length);

/* As read(2), of an eventfd or the like; the same. */
ssize_t timed_read(struct timed *g, int fd, void *bytes, size_t size);
