/*
 * Limits of the kernel for each session, process and run: a control group of its own for each (cgroup v2, cgroups(7)),
 * below the one that the server was started in, which has to be the server's to divide (delegated). Its files are the
 * kernel's; nothing is written down elsewhere, so the next server finds the groups by their names.
 *
 *   BASE/server/       the server and the holders, which no limit of a session is to reach
 *   BASE/session-…/    what a session runs; likewise process-… and run-…
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup;

/* What each may have at most; 0 = no limit. */
struct cgroup_limits {
	uint64_t tasks;  /* processes and threads */
	uint64_t memory; /* bytes; nothing of it is swapped out */
};

/*
 * Begin: move the server to BASE/server, with all that is in BASE where that was delegated by systemd, have the controllers
 * that the limits need, and give the groups of an earlier server the same limits. To be called before anything is started.
 * Returns 0 with *ret owned by the caller, or a negative errno and in ret_why (of that size) what is missing, for people.
 */
int cgroup_open(const struct cgroup_limits *limits, struct cgroup **ret, char *ret_why, size_t size);

/* Free it; NULL is fine. Groups stay, unless they are empty and were to be removed. */
void cgroup_close(struct cgroup *c);

/*
 * Make a group. Who writes "0" to *ret_fd (the caller's) is in it: the server's right to do that goes with the descriptor.
 * Returns 0 or a negative errno; then nothing is left.
 */
int cgroup_make(struct cgroup *c, const char *name, int *ret_fd);

/* Kill all who are in a group, at once. Harmless when there is none. */
void cgroup_kill(const struct cgroup *c, const char *name);

/*
 * Remove a group with all who are in it, or (kill: false) when the last of them has ended; what cannot be done now is done in
 * cgroup_sweep(). Harmless when there is none.
 */
void cgroup_remove(struct cgroup *c, const char *name, bool kill);

/* Remove what could not be removed before. To be called now and then; NULL is fine. */
void cgroup_sweep(struct cgroup *c);

/*
 * Where the group is in the file system that /proc/self/cgroup (own) says we are in, as /proc/self/mountinfo (mounts) has it.
 * Returns false when cgroup v2 is not mounted there, or we are outside of what is.
 */
bool cgroup_find(const char *mounts, const char *own, char ret_path[PATH_MAX]);
