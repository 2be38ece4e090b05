/*
 * Kernel limits for each session, process and run: a control group for each (cgroup v2, cgroups(7)), below the group in
 * which the server was started, which must be delegated to the server. Nothing is stored elsewhere: the next server
 * finds the groups by their names.
 *
 *   BASE/server/ the server and the holders, which no limit of a session applies to
 *   BASE/session-…/ what a session runs; likewise process-… and run-…
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup;

/* Limits for each group; 0: none. */
struct cgroup_limits {
	uint64_t tasks;  /* processes and threads */
	uint64_t memory; /* bytes; swap is disabled */
};

/*
 * Set up the groups before anything is started: move the server (and, if BASE was delegated by systemd, all its
 * processes) to BASE/server, enable the controllers that the limits need, and set the limits of an earlier server's
 * groups. Returns 0 with *ret owned by the caller, or a negative errno with the reason, for people, in ret_why (of that
 * size).
 */
int cgroup_open(const struct cgroup_limits *limits, struct cgroup **ret, char *ret_why, size_t size);

/* Free it; NULL is ok. Groups stay, except empty ones that are yet to be removed. */
void cgroup_close(struct cgroup *c);

/*
 * Create a group. A process that writes "0" to *ret_fd (owned by the caller) joins it; the descriptor carries the
 * server's permission to do so. Returns 0, or a negative errno with nothing left.
 */
int cgroup_make(struct cgroup *c, const char *name, int *ret_fd);

/* Kill all processes of a group, atomically. Does nothing if there is no such group. */
void cgroup_kill(const struct cgroup *c, const char *name);

/*
 * Remove a group: after killing its processes, or (kill: false) once the last one has ended. If that is not possible
 * now, cgroup_sweep() retries. Does nothing if there is no such group.
 */
void cgroup_remove(struct cgroup *c, const char *name, bool kill);

/* Retry the removals that failed before. Call it periodically; NULL is ok. */
void cgroup_sweep(struct cgroup *c);

/*
 * Find the file system path of the group of /proc/self/cgroup (own) by /proc/self/mountinfo (mounts). Returns false if
 * cgroup v2 is not mounted, or the group is outside of the mount.
 */
bool cgroup_find(const char *mounts, const char *own, char ret_path[PATH_MAX]);
