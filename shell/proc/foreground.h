/*
 * Foreground: what the programs in the foreground of a terminal do, as the kernel tells: who they are, whether
 * one of them waits for input, whether they are stopped. A look takes a fraction of a millisecond, whatever
 * there is to be seen, disturbs nobody and never blocks; what it has not seen it says. One that hangs (attempt.h) takes its
 * time once, and then sees what can be seen of any program: names, arguments, and whether they are stopped.
 */
#pragma once

#include "pty/proc/proc.h"
#include "shell/proc/blocked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FOREGROUND_PROCESSES 20u  /* looked at */
#define FOREGROUND_THREADS 48u    /* of all of them together */
#define FOREGROUND_ARGV_MAX 2048u /* bytes of the arguments with their NULs */

/* Whose terminal it is. */
struct foreground_target {
	struct peek *peek;   /* what reads files and memory of programs */
	pid_t holder, shell; /* the shell is below the holder */
	uid_t owner;         /* of the session */
	int master_fd;       /* the terminal's master, borrowed */
};

struct foreground {
	pid_t group; /* in the foreground; 0: none, or the terminal is gone */
	/* The group's leader, or a process of it when that has ended; pid 0: none was found. */
	pid_t pid;
	char name[PROC_NAME];
	char argv[FOREGROUND_ARGV_MAX]; /* each ended by a NUL */
	size_t argv_length;
	bool argv_cut;
	uint64_t started_ms; /* wall clock; 0: not known */
	uint64_t cpu_ms;
	bool stopped; /* all of the group that was seen */
	/* The first that waits for input: BLOCKED_NO, _EVENT or _READ. */
	enum blocked waits;
	pid_t waiter;
	char waiter_name[PROC_NAME];
	bool guessed;   /* it is not quite sure that it waits */
	bool hidden;    /* something of the group may not be looked at */
	bool truncated; /* there is more of it than was looked at */
	/* How the terminal takes input; modes_known is false when it is gone. */
	bool modes_known, line, echo;
};

/* Look. */
void foreground_look(const struct foreground_target *t, struct foreground *ret_foreground);

/*
 * The same of who starts no group of its own: what a shell runs that has no job control yet. f: of a look at its group; where
 * the leader has a child, the youngest of the youngest is described in its place.
 */
void foreground_descend(const struct foreground_target *t, struct foreground *f);

/* How many jobs of the shell are stopped: groups among its youngest children. */
unsigned foreground_stopped_jobs(pid_t shell);

/* The youngest child of a process; 0: none. */
pid_t foreground_youngest(pid_t parent);

/* Whether a process sleeps until something comes: what had come before has been seen to. False when it is gone. */
bool foreground_sleeps(pid_t pid);

/*
 * Whether the shell sleeps until a child ends, and all that it has were there before a time (wall clock). True of one that has
 * a child and cannot be looked at, because it is being executed: then it is no shell that could tell anything.
 */
bool foreground_awaits(const struct foreground_target *t, uint64_t time_ms);
