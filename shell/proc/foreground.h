/*
 * Foreground: the state of the programs in the foreground of a terminal, as the kernel reports it:
 * their names, whether one waits for input, whether they are stopped. A look takes a bounded time,
 * usually a fraction of a millisecond, and does not disturb the programs. The result says what was
 * left out. If a look hangs (attempt.h), it falls back to what is readable for any program: names,
 * arguments and stopped states.
 */
#pragma once

#include "pty/proc/proc.h"
#include "shell/proc/blocked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FOREGROUND_PROCESSES 20u  /* most processes examined */
#define FOREGROUND_THREADS 48u    /* most threads examined, all processes together */
#define FOREGROUND_ARGV_MAX 2048u /* bytes of the arguments with their NULs */

/* The terminal to look at. */
struct foreground_target {
	struct peek *peek;   /* reads files and memory of programs */
	pid_t holder, shell; /* the shell is a descendant of the holder */
	uid_t owner;         /* of the session */
	int master_fd;       /* the terminal's master, borrowed */
};

/* What a look has found. */
struct foreground {
	pid_t group; /* the foreground process group; 0: none, or the terminal is gone */
	/* The group's leader, or a member if the leader has exited; 0: none was found. */
	pid_t pid;
	char name[PROC_NAME];
	char argv[FOREGROUND_ARGV_MAX]; /* each ended by a NUL */
	size_t argv_length;
	uint64_t started_ms; /* wall clock; 0: not known */
	uint64_t cpu_ms;
	bool stopped; /* all members that were examined are stopped */
	/* Of the first thread that waits for input: BLOCKED_NO, _EVENT or _READ. */
	enum blocked waits;
	pid_t waiter;
	char waiter_name[PROC_NAME];
	bool guessed;   /* waits is a guess, see struct blocked_process */
	bool hidden;    /* the kernel denied access to part of the group */
	bool truncated; /* the group is larger than the limits above */
	/* Terminal modes ICANON and ECHO; modes_known is false if the terminal is gone. */
	bool modes_known, line, echo;
};

/* Examine the foreground process group. */
void foreground_look(const struct foreground_target *t, struct foreground *ret_foreground);

/*
 * Describe the programs that a shell without job control runs: they stay in the shell's group. f:
 * result of foreground_look(); if its process has children, it is replaced by the youngest child of
 * the youngest child, and so on.
 */
void foreground_descend(const struct foreground_target *t, struct foreground *f);

/* The number of stopped jobs of the shell: process groups among its youngest children. */
unsigned foreground_count_stopped_jobs(pid_t shell);

/* The youngest child of a process; 0: none. */
pid_t foreground_youngest_child(pid_t parent);

/* Whether a process sleeps interruptibly, so it has handled all input. False if it is gone. */
bool foreground_is_sleeping(pid_t pid);

/*
 * Whether the shell waits for a child, and its youngest child was started before time_ms (wall
 * clock). Also true for a shell that has a child and cannot be examined because it is being
 * executed: such a process cannot report anything.
 */
bool foreground_is_awaiting_child(const struct foreground_target *t, uint64_t time_ms);
