/*
 * The processes below another one, found in /proc, and signals to them. By pidfd, so that a number that has
 * changed hands meanwhile is never signalled. Whoever forks while this looks may be missed: look again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TREE_MAX 65536u /* processes looked at */

/* What /proc/PID/stat says. */
struct tree_entry {
	pid_t pid, parent;
	char state;     /* 'R', 'S', 'Z' ... */
	uint64_t start; /* ticks since boot: with the number it is unique */
	bool below;     /* found to be below the root */
};

/* Read the text of /proc/PID/stat. Returns false when it makes no sense. Pure. */
bool tree_parse(const char *text, struct tree_entry *ret_entry);

/*
 * The living processes below root, without root and without `except` (0 = none; those below it count).
 * *ret_list: owned by the caller, *ret_count of them. Returns 0 or a negative errno.
 */
int tree_list(pid_t root, pid_t except, struct tree_entry **ret_list, size_t *ret_count);

/* The same by looking at all processes of the machine, for kernels that do not tell who the children are. */
int tree_list_by_search(pid_t root, pid_t except, struct tree_entry **ret_list, size_t *ret_count);

/*
 * Signal all of them; signo 0: none. Returns how many there are, or a negative errno.
 */
int tree_signal_below(pid_t root, pid_t except, int signo);

/* Signal pid if its parent is `parent`. Returns 0, -ESRCH when there is no such child, or another errno. */
int tree_signal_child(pid_t pid, pid_t parent, int signo);
