/*
 * Processes as /proc shows them, see proc(5). What cannot be read counts as gone.
 *
 * While execve(2) closes the files of a program, the kernel keeps everything of it that only a tracer may see: "stat", all links
 * ("cwd", "fd/3"), "syscall", "wchan", and opening "mem" and "environ". A read of these waits, until SIGKILL, for a file system
 * that does not answer (FUSE, NFS). "status", "task", "children" and "cmdline" are not kept. So functions here that may
 * wait say so, and those belong into an attempt (shell/proc/attempt.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_STAT_MAX 1024u /* bytes of a "stat" that are read */
#define PROC_STATUS_MAX \
	16384u /* of a "status", which may be longer: it lists all groups of the user */
#define PROC_CHILDREN_MAX 4096u /* of a list of children, by proc_children() */
#define PROC_DEPTH_MAX 64u      /* of a process below another one */
#define PROC_NAME 16u           /* of a name with its NUL: the kernel keeps no more */

/* What "status" says. */
struct proc_status {
	pid_t pid, parent;
	uid_t owner; /* the effective one */
	char name[PROC_NAME];
	char state;       /* 'R', 'S', 'Z' ... */
	unsigned threads; /* 0: proc_parse() has not found it */
};

/* Parse the text of a "status", or its beginning. Returns false when it makes no sense. Pure. */
bool proc_parse(const char *text, struct proc_status *ret_status);

/* Parse the text of a "stat" for when the process was started, in clock ticks since boot. Pure. */
bool proc_parse_start(const char *text, uint64_t *ret_ticks);

/* The directory of a process, for openat(2) alone: the caller's. Returns it or a negative errno. */
int proc_open(pid_t pid);

/*
 * Read the beginning of a file of a process, by one read(2); process_fd: of proc_open(). size counts the NUL that is put
 * behind it. Returns bytes or a negative errno.
 */
ssize_t proc_read(int process_fd, const char *name, char *text, size_t size);

/* Read a process's "status". Returns false when there is no such process. */
bool proc_status_at(int process_fd, struct proc_status *ret_status);
bool proc_status(pid_t pid, struct proc_status *ret_status);

/* When it was started, in clock ticks since boot. May wait. */
bool proc_start_at(int process_fd, uint64_t *ret_ticks);

/* Whether it has not ended. */
bool proc_is_living(const struct proc_status *s);

/* Where a link of a process leads ("cwd", "exe"), with a NUL. Returns bytes; 0: not known, or longer. May wait. */
size_t proc_link(pid_t pid, const char *name, char *ret_path, size_t size);

/* Whether a process is below another one, by their parents. */
bool proc_is_below(pid_t pid, pid_t root);

/* Its number in the innermost of its pid namespaces; 0: it is no more. */
pid_t proc_inner_pid(pid_t pid);

/* Whether this kernel lists children (CONFIG_PROC_CHILDREN). */
bool proc_lists_children(void);

/* The children of one thread (NULL: the first), the youngest first. Returns how many; *ret_more: there may be others. */
size_t proc_children(pid_t pid, const char *thread, pid_t *ret_list, size_t max, bool *ret_more);

/*
 * All children of a process, of each of its threads. Who is missed because others end meanwhile is found the next time.
 * visit: returns whether to go on.
 */
void proc_each_child(pid_t pid, bool (*visit)(void *user, pid_t child), void *user);

/* All processes of the machine, likewise. Returns 0, or a negative errno where there is no /proc. */
int proc_each(bool (*visit)(void *user, pid_t pid), void *user);
