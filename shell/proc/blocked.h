/*
 * Blocked: whether a thread that sleeps in a system call waits for input from a terminal. Told by
 * /proc/PID/task/TID/syscall and, for poll, select and epoll, by the program's own list of what it waits for.
 * Programs of another word size than ours use other numbers and are taken for not waiting.
 */
#pragma once

#include "shell/proc/peek.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BLOCKED_ARGUMENTS 6u
#define BLOCKED_POLL_MAX 256u               /* entries of a poll that are looked at */
#define BLOCKED_SELECT_MAX 1024u            /* descriptors of a select */
#define BLOCKED_EPOLL_MAX ((size_t)8 << 10) /* bytes of what /proc tells of an epoll descriptor */
#define BLOCKED_LOOKS_MAX 64u               /* descriptors of a process that are looked at */

enum blocked {
	BLOCKED_NO,
	BLOCKED_EVENT,   /* among other things perhaps: poll, select, epoll */
	BLOCKED_READ,    /* in read(2) itself */
	BLOCKED_UNKNOWN, /* it may not be looked at */
};

/* A process that is being looked at. */
struct blocked_process {
	struct peek *peek; /* what reads its memory; NULL: that is not known */
	struct peek_target target;
	int fd;           /* /proc/PID, borrowed */
	dev_t terminal;   /* the one that is asked for */
	bool controlling; /* it is the process's controlling terminal, so /dev/tty means it too */
	unsigned looks;   /* descriptors that may still be looked at */
	bool guessed;     /* out: told by the name of a kernel function only */
};

/* The system call and its arguments. */
struct blocked_call {
	long number;
	uint64_t arguments[BLOCKED_ARGUMENTS];
};

/* The text of a file "syscall". Returns false for a thread that is in none: "running", "-1 ...". Pure. */
bool blocked_parse(const char *text, struct blocked_call *ret_call);

/*
 * Whether the text of /proc/PID/fdinfo/EPFD, of an epoll descriptor, has a line for descriptors that are
 * waited for input; calls visit for each until it returns true. Pure.
 */
bool blocked_parse_epoll(const char *text, bool (*visit)(void *user, int fd), void *user);

/* Whether the process's main thread sleeps until a child ends. fd: its /proc/PID. May wait, as blocked_look() may. */
bool blocked_for_child(int fd);

/*
 * Whether a thread waits. thread: "" for the main one, or "task/TID/". Never stops the thread. It belongs into an attempt, for
 * it waits while the program is being executed; where memory is asked for, and does not answer, as long as peek.h says.
 */
enum blocked blocked_look(struct blocked_process *p, const char *thread);
