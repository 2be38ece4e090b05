/*
 * Path lookup, as the shell of a session sees paths. Relative paths start at the shell's working directory,
 * which is read from /proc, so that no call waits for the shell. In a sandbox (--isolate, or any other mount
 * namespace of the shell), no path and no link leads out of the sandbox.
 *
 * Magic links of /proc (/proc/PID/fd/N, /proc/PID/root) are not followed, and the /proc entries of the server
 * itself are refused: a thread of the server could read them.
 *
 * All of this may block on disks, except place_of_*(): it is for threads (shell/files/crew.h).
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PLACE_PATH_MAX 4096u /* bytes of a path, with its NUL */

/* Where paths are looked up. */
struct place {
	pid_t shell, holder;      /* of the session; 0: no session */
	char cwd[PLACE_PATH_MAX]; /* absolute; without a session, relative paths start here */
	const char *workspace; /* target of ALIAS_PATH outside sandboxes; NULL: no alias. Borrowed */
	bool beneath;          /* all paths and links must stay below cwd, else -EXDEV */
	/* After place_enter(): */
	int root_fd; /* of the sandbox; -1: no sandbox */
	int cwd_fd;
	char inside[PLACE_PATH_MAX]; /* the shell's working directory, as named in the sandbox */
	/* Of absolute_path(): */
	bool home_is_read;
	int home_error;            /* 0, or a negative errno */
	char home[PLACE_PATH_MAX]; /* the shell's HOME */
};

/* A parent directory and a name in it, to be renamed, removed or made. */
struct place_entry {
	int dir_fd;
	char name[NAME_MAX + 1]; /* never "." or ".." */
};

/* The place of a session. Both pids are of the server's pid namespace. */
void place_of_shell(struct place *p, pid_t shell, pid_t holder);

/* A place without a session. cwd: absolute. Returns false if it is too long. */
bool place_of_directory(struct place *p, const char *cwd);

/* A place in which only absolute paths work. */
void place_of_nothing(struct place *p);

/*
 * Open the working directory and the sandbox's root. Returns 0, -ESRCH if the shell is gone, -ENOSYS without
 * openat2(2), -EACCES if /proc denies access, or another negative errno; place_leave() is not needed after an
 * error.
 */
int place_enter(struct place *p);

/* Close what place_enter() opened. */
void place_leave(struct place *p);

/* Open a path as openat(2) does. With O_PATH it never blocks on a FIFO. Returns a descriptor or a negative errno. */
int place_open(const struct place *p, const char *path, int flags, mode_t mode);

/* Open a single name in an open directory; links are not followed. Returns a descriptor or a negative errno. */
int place_open_in(int dir_fd, const char *name, int flags);

/*
 * Open for reading or writing what an O_PATH descriptor refers to, nonblocking and without acquiring a
 * controlling terminal. flags: O_RDONLY, O_WRONLY | O_TRUNC ... Returns a descriptor or a negative errno.
 */
int place_reopen(int path_fd, int flags);

/*
 * Open the parent directory of a path; the last name need not exist, and is not followed if it is a link.
 * Trailing slashes are ignored. Returns 0 with *ret for place_entry_close(), -EBUSY if the path is the root or
 * ends in "." or "..", or another negative errno.
 */
int place_find(const struct place *p, const char *path, struct place_entry *ret);

/* Close what place_find() opened. */
void place_entry_close(struct place_entry *e);

/* Make the missing directories of a path: all up to its last slash. Returns 0 or a negative errno. */
int place_make_parents(const struct place *p, const char *path);
