/*
 * Where paths are looked up: as the shell of a session sees them. A relative one begins where the shell is now, which the
 * kernel is asked for, so that nobody waits for what runs there. A session in a room of its own (--isolate, or whatever has
 * given its shell another tree of mounts) has the files of that room and no others: no path and no link leads out.
 *
 * Links of /proc that lead to what a process has open (/proc/PID/fd/N, /proc/PID/root) are not followed, and nothing of the
 * server's own process is opened: a thread of the server may look there, and nobody else is meant to.
 *
 * Where ALIAS_PATH stands for a directory (shell/files/alias.h), it does so in each path that is given here.
 *
 * All of this waits for disks: it is for threads (shell/files/crew.h), but for place_of_* alone.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PLACE_PATH_MAX 4096u /* bytes of a path, with its NUL */

struct place {
	pid_t shell, holder;      /* of the session; 0: of none */
	char cwd[PLACE_PATH_MAX]; /* absolute; where relative paths begin without a session */
	const char *workspace; /* what ALIAS_PATH stands for, but in rooms; NULL: nothing. Borrowed */
	bool beneath; /* no path and no link leads out of that (-EXDEV), nor does an absolute one */
	/* Once entered: */
	int root_fd; /* of the room; -1: there is none */
	int cwd_fd;
	char inside[PLACE_PATH_MAX]; /* of the room: where the shell is in there */
};

/* The directory that a path is in, and its name there: what is renamed, removed or made. */
struct place_entry {
	int dir_fd;
	char name[NAME_MAX + 1]; /* one name, never "." or ".." */
};

/* Of a session; both are numbers as we see them. */
void place_of_shell(struct place *p, pid_t shell, pid_t holder);

/* Of none: relative paths begin at cwd, absolute. Returns false when that is too long. */
bool place_of_directory(struct place *p, const char *cwd);

/*
 * Find out where the shell is. Returns 0, -ESRCH when it is no more, or another negative errno (and there is nothing to
 * leave then): -ENOSYS where the kernel has no openat2(2), -EACCES when it may not be looked at.
 */
int place_enter(struct place *p);
void place_leave(struct place *p);

/* Open as openat(2). Never waits for the other end of a FIFO if flags have O_PATH. Returns a descriptor or a negative errno. */
int place_open(const struct place *p, const char *path, int flags, mode_t mode);

/* The same of one name in a directory that has been opened; a link is not followed. */
int place_open_in(int dir_fd, const char *name, int flags);

/*
 * Open for reading or writing what an O_PATH descriptor stands for: at once, without becoming a terminal's owner. flags:
 * O_RDONLY, O_WRONLY | O_TRUNC ... Returns a descriptor or a negative errno.
 */
int place_reopen(int path_fd, int flags);

/*
 * Find the entry that a path names, whether or not it is there; links in its last name are not followed. Slashes at its
 * end are left out. Returns 0 with *ret to be given to place_entry_close(), -EBUSY when it ends in "." or "..", or names the
 * root, or another negative errno.
 */
int place_find(const struct place *p, const char *path, struct place_entry *ret);
void place_entry_close(struct place_entry *e);

/* Make the directories of a path that are missing, all but what is behind its last slash. Returns 0 or a negative errno. */
int place_make_parents(const struct place *p, const char *path);
