/*
 * Peek: memory, files and links of programs. Opening and reading them may block for ever.
 *
 * Files are opened and links are followed in an attempt (attempt.h). A helper process
 * (pty/peeker.h) reads them, because not even SIGKILL ends a read from a file system that does not
 * answer. Each request waits at most PEEK_WAIT_MS. Until a late answer arrives all requests fail;
 * after PEEK_HUNG_MS another helper replaces the hung one. At most PEEK_HUNG_MAX hung helpers are
 * left alone.
 *
 * Only programs of our own user and of the session's user are read: the pid may have been reused,
 * and root could read any process. Arguments are readable by all users.
 */
#pragma once

#include "shell/proc/attempt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PEEK_WAIT_MS 20    /* to wait for an answer */
#define PEEK_SHARE_MS 200u /* of each second, for the attempts of one session */
#define PEEK_LOOK_MS 40u   /* in one attempt; later reads in it fail */
#define PEEK_HUNG_MS 1000u /* without an answer, after which the helper is replaced */
#define PEEK_HUNG_MAX 4u   /* hung helpers; with so many all reads fail */

/* The helper and the attempts. */
struct peek {
	struct attempts attempts;
	const char *holder; /* path of ringside-holder; NULL: nothing can be read */
	int socket_fd;      /* to the helper; 0: there is none */
	pid_t pid;
	pid_t hung[PEEK_HUNG_MAX]; /* 0: free */
	uint32_t serial;           /* of the last request */
	bool waiting;              /* the last request is unanswered */
	uint64_t asked_ms;         /* monotonic time of the last request */
};

/* A program to read from. */
struct peek_target {
	pid_t pid;
	uid_t owner;             /* of its session */
	pid_t session;           /* the session's holder: the key of attempts */
	struct attempt *attempt; /* the attempt that calls; NULL: none, so one is made */
};

/*
 * Start a helper, so that the first request need not wait for it. p is zeroed except for holder. If
 * the helper cannot be started, the first request tries again.
 */
void peek_init(struct peek *p);

/* Kill the helper and free all but p. */
void peek_finish(struct peek *p);

/* Read length bytes of memory at an address. Returns false unless all of them were read. */
bool peek_memory(
	struct peek *p, struct peek_target target, uint64_t address, void *dst, size_t length);

/*
 * Read a link in the program's /proc directory ("cwd"), NUL-terminated. Returns its length, 0 when
 * the program is gone or the path does not fit, or a negative errno when it cannot be read now.
 */
ssize_t peek_link(
	struct peek *p, struct peek_target target, const char *name, char *ret_path, size_t size);

/* The program's executable file, as a number made of its device and its inode. 0: not known. */
uint64_t peek_program(struct peek *p, struct peek_target target);

/*
 * Read the beginning of a file in the program's /proc directory ("fdinfo/3", "environ"). Returns
 * bytes, or a negative errno: -EAGAIN or -EBUSY when it could not be read to the end in time.
 */
ssize_t peek_file(
	struct peek *p, struct peek_target target, const char *name, void *dst, size_t size);

/* As peek_file(), for the program's arguments ("cmdline"). */
ssize_t peek_arguments(struct peek *p, struct peek_target target, void *dst, size_t size);
