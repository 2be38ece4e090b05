/*
 * Protocols of a service manager such as systemd: passed sockets (sd_listen_fds(3)) and notifications (sd_notify(3)). Both
 * are simple enough to need no library.
 */
#pragma once

#include "ws/net/server.h"

#include <limits.h>
#include <stddef.h>

#define SUPERVISOR_SOCKETS_MAX 16u

/* Passed sockets, all of which listen and have FD_CLOEXEC. */
struct supervisor_sockets {
	struct server_inherited items[SUPERVISOR_SOCKETS_MAX];
	size_t count;
	size_t command; /* how many of them are the command line's socket: 0 or 1 */
};

/*
 * Acquire the passed sockets, from descriptor 3 on, and unset the variables. None are acquired if LISTEN_PID is another
 * process. runtime_dir: its LOCAL_SOCKET_NAME is the command line's socket. Returns 0, or -1 after printing an error: a socket
 * that does not listen (Accept=yes), is not a stream, or has an abstract name.
 */
int supervisor_acquire_sockets(const char *runtime_dir, struct supervisor_sockets *ret);

/* Send RELOADING=1, which READY=1 ends: see sd_notify(3). */
void supervisor_notify_reloading(void);

/* Send a state such as "READY=1" to $NOTIFY_SOCKET, if it is set. Errors are logged. */
void supervisor_notify(const char *words);
