/*
 * The lock that allows one server per runtime directory. It consists of three locks, as none is
 * enough alone:
 *   - a record lock (fcntl(2)) on the file "lock": the kernel drops it as soon as the process
 *     exits;
 *   - flock(2) on the same file: a child between fork and exec keeps it after its server was
 *     killed, so it is waited for;
 *   - a name in the abstract namespace of unix sockets (unix(7)), derived from the directory's
 *     path: it works even if the directory was removed and created again under a running server.
 */
#pragma once

#include <stdbool.h>

#define RUNTIME_LOCK_WAIT_MS 1000u  /* to wait for a server that is exiting */
#define RUNTIME_LOCK_CHILD_MS 3000u /* to wait for its children between fork and exec */

/* An acquired lock. */
struct runtime_lock {
	int fd;      /* of the file */
	int name_fd; /* socket bound to the name; -1: it could not be bound, which is tolerated */
};

/* Acquire the lock; borrows runtime_fd. Returns 0, -EBUSY if it is held, or a negative errno. */
int runtime_lock_acquire(struct runtime_lock *l, int runtime_fd);

/*
 * Leave the lock to the program that this process executes next, which calls runtime_lock_take_over(). It is not released
 * meanwhile. *ret_fd, *ret_name_fd: the fields of l, to be passed on; l is empty then.
 */
void runtime_lock_leave(struct runtime_lock *l, int *ret_fd, int *ret_name_fd);

/* Continue with a lock that was left. Takes the descriptors. Returns 0, or -EBUSY if it is not held. */
int runtime_lock_take_over(struct runtime_lock *l, int fd, int name_fd);

/*
 * Whether the lock is still held and is on the file that is in runtime_dir now. If the directory
 * was replaced, or the lock was lost, another server may use the directory.
 */
bool runtime_lock_is_held(const struct runtime_lock *l, const char *runtime_dir);

/* Release the lock; harmless if it is empty. */
void runtime_lock_release(struct runtime_lock *l);
