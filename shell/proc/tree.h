/*
 * The descendants of a process, found in /proc, and signals to them. Signals go through pidfds, so
 * a reused pid is never signalled. Processes that fork during a search may be missed.
 */
#pragma once

#include "pty/proc/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TREE_MAX 65536u  /* processes of one search */
#define TREE_KILL_MS 20u /* for one call of tree_kill_below() */

/*
 * List the living descendants of root, without the process `except` (0 = none) but with its
 * descendants. *ret_list: owned by the caller, *ret_count entries. Returns 0 or a negative errno.
 */
int tree_list(pid_t root, pid_t except, struct proc_status **ret_list, size_t *ret_count);

/* Signal what tree_list() lists; signo 0: nothing. Returns their number or a negative errno. */
int tree_signal_below(pid_t root, pid_t except, int signo);

/*
 * Signal the descendants of root that are in a process group. Processes elsewhere are not
 * signalled, even if their group has the same id by now. Returns how many got the signal, or a
 * negative errno if none did: -ESRCH when there is none.
 */
int tree_signal_group(pid_t root, pid_t group, int signo);

/*
 * Kill all descendants: send SIGSTOP to all, then SIGKILL, and search again, until none is left or
 * TREE_KILL_MS have passed. They are stopped first so that none replaces a killed process by a new
 * one. Both signals also go to their process groups, which is atomic with regard to fork(2), except
 * the groups of root, of `except` and our own. Returns how many were left, or a negative errno.
 */
int tree_kill_below(pid_t root, pid_t except);

/* The child of parent that has the pid `inside` in its own pid namespace; 0: none. */
pid_t tree_find_child(pid_t parent, pid_t inside);

/* Signal pid if its parent is `parent`. Returns 0, -ESRCH if not, or another negative errno. */
int tree_signal_child(pid_t pid, pid_t parent, int signo);
