/*
 * The processes below another one, found in /proc, and signals to them. By pidfd, so that a number that has
 * changed hands meanwhile is never signalled. Whoever forks while this looks may be missed: look again.
 */
#pragma once

#include "pty/proc/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TREE_MAX 65536u /* processes looked at */
#define TREE_END_MS 20u /* for one call of tree_end_below() */

/*
 * The living processes below root, without root and without `except` (0 = none; those below it count).
 * *ret_list: owned by the caller, *ret_count of them. Returns 0 or a negative errno.
 */
int tree_list(pid_t root, pid_t except, struct proc_status **ret_list, size_t *ret_count);

/*
 * Signal all of them; signo 0: none. Returns how many there are, or a negative errno.
 */
int tree_signal_below(pid_t root, pid_t except, int signo);

/*
 * Signal those of them that are in a process group, and no process elsewhere whose group has got the same number since.
 * Returns how many have got the signal, or a negative errno if none has: -ESRCH where there is none.
 */
int tree_signal_group(pid_t root, pid_t group, int signo);

/*
 * Stop all of them, then kill them, and look again, until none is found or it has taken too long. Stopping comes
 * first so that none answers the end of another with a new process. Both go to their process groups as well, which
 * the kernel does in one go with regard to fork(2); the groups of root, of except and our own are spared. Returns how
 * many were there at the last look, or a negative errno.
 */
int tree_end_below(pid_t root, pid_t except);

/* The child of parent that has this pid in its own namespace; 0: there is none. */
pid_t tree_find_child(pid_t parent, pid_t inside);

/* Signal pid if its parent is `parent`. Returns 0, -ESRCH when there is no such child, or another errno. */
int tree_signal_child(pid_t pid, pid_t parent, int signo);
