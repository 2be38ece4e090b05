/*
 * Peek: memory and files of programs, read by a process of its own (pty/peeker.h), for such a read may never end. It is
 * waited for a moment; one that does not answer is left alone, and nothing is read until it does, or until another one has
 * taken its place. Of those that hang for ever there are only so many.
 *
 * Only programs of our own user and of the session's are read: a pid may be another program's by now, and root could read
 * any. Arguments can be read by everybody.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PEEK_WAIT_MS 20    /* for an answer */
#define PEEK_HUNG_MS 1000u /* without one another process takes its place */
#define PEEK_HUNG_MAX 4u   /* that hang; with more nothing is read any more */

struct peek {
	const char *holder; /* path of ringside-holder; NULL: nothing can be read */
	int socket_fd;      /* 0: there is no process */
	pid_t pid;
	pid_t hung[PEEK_HUNG_MAX]; /* 0: free */
	uint32_t serial;           /* of the last request */
	bool waiting;              /* it has not been answered */
	uint64_t asked_ms;         /* monotonic, when it was asked */
};

/* A program that is looked at. */
struct peek_target {
	pid_t pid;
	uid_t owner; /* of its session */
};

/*
 * Zeroed memory, and the path of ringside-holder (borrowed): what is needed is started when it is, or here, so that the first
 * question need not wait for it.
 */
void peek_begin(struct peek *p);

void peek_finish(struct peek *p);

/* Read memory at an address: all of it, or false. */
bool peek_memory(
	struct peek *p, struct peek_target target, uint64_t address, void *dst, size_t length);

/*
 * Read the beginning of a file in the program's directory of /proc ("fdinfo/3", "environ"), or of its arguments.
 * Returns bytes, or a negative errno: -EAGAIN or -EBUSY where reading has not ended, and some of it may be missing.
 */
ssize_t peek_file(
	struct peek *p, struct peek_target target, const char *name, void *dst, size_t size);
ssize_t peek_arguments(struct peek *p, pid_t pid, void *dst, size_t size);
