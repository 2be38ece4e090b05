/*
 * One server for one runtime directory. Three locks, for none of them is enough alone:
 *   - a record lock (fcntl(2)) on the file "lock": it belongs to the process and ends with it, at once;
 *   - flock(2) on it. A child between fork and exec holds it, too, after its server has been killed: it is waited for;
 *   - a name in the abstract namespace of unix sockets (unix(7)), made of the place of the directory: it is taken
 *     also when the directory has been removed and made again under a server that runs.
 */
#pragma once

#include <stdbool.h>

#define RUNTIME_LOCK_WAIT_MS 1000u /* for a server that is just ending */
#define RUNTIME_LOCK_CHILD_MS \
	3000u /* for children that such a server has left between fork and exec */

struct runtime_lock {
	int fd;      /* of the file */
	int name_fd; /* socket that has the name; -1 when it could not be had, which does not matter */
};

/* Take it; runtime_fd is borrowed. Returns 0, -EBUSY when another server has it, or another negative errno. */
int runtime_lock_take(struct runtime_lock *l, int runtime_fd);

/*
 * Whether it is held still, and is that of the directory that is at this path now: whoever replaces a directory, or takes
 * the lock away from its file, makes somebody else the server.
 */
bool runtime_lock_holds(const struct runtime_lock *l, const char *runtime_dir);

void runtime_lock_release(struct runtime_lock *l);
