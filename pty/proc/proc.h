/*
 * Processes as /proc shows them, see proc(5). A process that cannot be read counts as gone.
 *
 * Reads may block: while execve(2) closes the files of a program, the kernel locks everything that
 * only a tracer may see: "stat", all links ("cwd", "fd/3"), "syscall", "wchan", and opening "mem"
 * and "environ". If a file system does not respond then (FUSE, NFS), the read waits until SIGKILL.
 * "status", "task", "children" and "cmdline" never block. Functions that may block say so; call
 * them from an attempt (shell/proc/attempt.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Most bytes read of a "stat". */
#define PROC_STAT_MAX 1024u
/* Most bytes read of a "status", which may be longer: it lists all groups of the user. */
#define PROC_STATUS_MAX 16384u
/* Most bytes read of a list of children, by proc_children(). */
#define PROC_CHILDREN_MAX 4096u
/* Most steps from a process up to an ancestor. */
#define PROC_DEPTH_MAX 64u
/* Size of a process name with its NUL (TASK_COMM_LEN). */
#define PROC_NAME 16u

/* What "status" says. */
struct proc_status {
	pid_t pid, parent;
	uid_t owner; /* effective uid */
	char name[PROC_NAME];
	char state;       /* 'R', 'S', 'Z' ... */
	unsigned threads; /* 0: not found by proc_parse_status() */
};

/* Parse the text of a "status", or its beginning. Returns false when it is malformed. */
bool proc_parse_status(const char *text, struct proc_status *ret_status);

/* Parse a "stat": start time in clock ticks since boot. Returns false when it is malformed. */
bool proc_parse_start_time(const char *text, uint64_t *ret_ticks);

/* Open the directory of a process (O_PATH). Returns it, owned by the caller, or -errno. */
int proc_open(pid_t pid);

/*
 * Read the beginning of a file in a directory of proc_open(), with one read(2). size includes the
 * NUL that is appended. Returns bytes without the NUL, or a negative errno.
 */
ssize_t proc_read(int process_fd, const char *name, char *text, size_t size);

/* Read "status" in a directory of proc_open(). Returns false when there is no such process. */
bool proc_status_at(int process_fd, struct proc_status *ret_status);

/* The same by pid. */
bool proc_status(pid_t pid, struct proc_status *ret_status);

/* Read the start time in clock ticks since boot. May block. */
bool proc_start_time_at(int process_fd, uint64_t *ret_ticks);

/* Whether the process is alive: it is no zombie, or has live threads. */
bool proc_is_alive(const struct proc_status *s);

/*
 * Read a link of a process ("cwd", "exe"), NUL-terminated. Returns bytes without the NUL; 0 when it
 * cannot be read or is too long. May block.
 */
size_t proc_read_link(pid_t pid, const char *name, char *ret_path, size_t size);

/* Whether pid is root or a descendant of root. */
bool proc_is_descendant(pid_t pid, pid_t root);

/* pid in the innermost pid namespace of the process; 0: the process is gone. */
pid_t proc_inner_pid(pid_t pid);

/* Whether this kernel lists children (CONFIG_PROC_CHILDREN). */
bool proc_can_list_children(void);

/*
 * List children of one thread (NULL: the main thread), the youngest first. Returns how many;
 * *ret_more: there may be more.
 */
size_t proc_children(pid_t pid, const char *thread, pid_t *ret_list, size_t max, bool *ret_more);

/*
 * Visit all children of a process, of all its threads. A child may be missed if its siblings end
 * meanwhile; call again. visit returns whether to go on.
 */
void proc_each_child(pid_t pid, bool (*visit)(void *user, pid_t child), void *user);

/* Visit all processes of the machine. Returns 0, or a negative errno if /proc cannot be opened. */
int proc_each(bool (*visit)(void *user, pid_t pid), void *user);
