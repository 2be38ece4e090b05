/*
 * Peek: memory, files and links of programs, which may take for ever to open and to read.
 *
 * Opening, and following links, is an attempt (attempt.h). Reading is done by a process of its own (pty/peeker.h), for not
 * even SIGKILL ends it where a file system does not answer. It is waited for a moment; one that does not answer is left alone,
 * and nothing is read until it does, or until another one has taken its place. Of those that hang for ever there are only
 * so many.
 *
 * Only programs of our own user and of the session's are read: a pid may be another program's by now, and root could read
 * any. Arguments can be read by everybody.
 */
#pragma once

#include "shell/proc/attempt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PEEK_WAIT_MS 20    /* for an answer */
#define PEEK_SHARE_MS 200u /* of each second, for the attempts of a session */
#define PEEK_LOOK_MS 40u   /* in one attempt; nothing more is read in it then */
#define PEEK_HUNG_MS 1000u /* without one another process takes its place */
#define PEEK_HUNG_MAX 4u   /* that hang; with more nothing is read any more */

struct peek {
	struct attempts attempts;
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
	uid_t owner;             /* of its session */
	pid_t session;           /* the session's holder: the key of attempts */
	struct attempt *attempt; /* in which this is done; NULL: in none yet, so it makes one */
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
 * Where a link in the program's directory of /proc leads ("cwd"), with a NUL. Returns bytes, 0 when there is no such program or the
 * path is longer, or a negative errno when it could not be looked at now.
 */
ssize_t peek_link(
	struct peek *p, struct peek_target target, const char *name, char *ret_path, size_t size);

/* The file that the program executes: a number made of its device and its inode. 0: not known. */
uint64_t peek_program(struct peek *p, struct peek_target target);

/*
 * Read the beginning of a file in the program's directory of /proc ("fdinfo/3", "environ"), or of its arguments.
 * Returns bytes, or a negative errno: -EAGAIN or -EBUSY where reading has not ended, and some of it may be missing.
 */
ssize_t peek_file(
	struct peek *p, struct peek_target target, const char *name, void *dst, size_t size);
ssize_t peek_arguments(struct peek *p, struct peek_target target, void *dst, size_t size);
