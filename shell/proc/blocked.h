/*
 * Blocked: whether a thread that sleeps in a system call waits for input from a terminal. Sources:
 * /proc/PID/task/TID/syscall and, for poll, select and epoll, the descriptors that the program
 * polls. Programs of another word size are reported as not waiting.
 */
#pragma once

#include "shell/proc/peek.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BLOCKED_ARGUMENTS 6u
#define BLOCKED_POLL_MAX 256u               /* entries of a poll; longer lists are not read */
#define BLOCKED_SELECT_MAX 1024u            /* descriptors of a select */
#define BLOCKED_EPOLL_MAX ((size_t)8 << 10) /* bytes read of an epoll descriptor's fdinfo */
#define BLOCKED_LOOKS_MAX 64u               /* descriptors examined per process */

/* What a thread waits for. */
enum blocked {
	BLOCKED_NO,
	BLOCKED_EVENT,   /* poll, select or epoll on the terminal and perhaps other files */
	BLOCKED_READ,    /* read(2) from the terminal */
	BLOCKED_UNKNOWN, /* the kernel denies access */
};

/* A process that is examined. */
struct blocked_process {
	struct peek *peek; /* reads its memory; NULL: its memory cannot be read */
	struct peek_target target;
	int fd;           /* /proc/PID, borrowed */
	dev_t terminal;   /* the terminal in question */
	bool controlling; /* it is the process's controlling terminal: /dev/tty means it too */
	unsigned looks;   /* descriptors that may still be examined */
	bool guessed;     /* out: derived only from the name of a kernel function */
};

/* A system call and its arguments. */
struct blocked_call {
	long number;
	uint64_t arguments[BLOCKED_ARGUMENTS];
};

/* Parse a "syscall" file, see proc(5). Returns false if the thread is in no system call. Pure. */
bool blocked_parse(const char *text, struct blocked_call *ret_call);

/*
 * Parse /proc/PID/fdinfo/EPFD of an epoll descriptor: call visit for each descriptor that is polled
 * for input until visit returns true. Returns whether it did. Pure.
 */
bool blocked_parse_epoll(const char *text, bool (*visit)(void *user, int fd), void *user);

/* Whether the main thread waits for a child to exit. fd: /proc/PID. Blocks as blocked_check_thread(). */
bool blocked_is_awaiting_child(int fd);

/*
 * Whether a thread waits for terminal input. thread: "" for the main thread, or "task/TID/". Never
 * stops the thread. Call it in an attempt: it blocks while the program is being executed, and for
 * up to PEEK_WAIT_MS when memory does not answer.
 */
enum blocked blocked_check_thread(struct blocked_process *p, const char *thread);
