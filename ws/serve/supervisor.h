/*
 * Whoever has started the server and looks after it, such as systemd: sockets that it has opened for us (socket
 * activation, sd_listen_fds(3)), and what it wants to be told (sd_notify(3)). Both are protocols of a few variables, so no
 * library is needed.
 */
#pragma once

#include "ws/net/server.h"

#include <limits.h>
#include <stddef.h>

#define SUPERVISOR_SOCKETS_MAX 16u /* that are taken */

/* Sockets that were opened for us; all of them listen, and are closed in children. */
struct supervisor_sockets {
	struct server_inherited items[SUPERVISOR_SOCKETS_MAX];
	size_t count;
	size_t command; /* how many of them are the command line's */
};

/*
 * Take the sockets that the environment (environ) tells of, from descriptor 3 on, and forget the variables. runtime_dir: whose
 * LOCAL_SOCKET_NAME is the command line's socket. None are taken when the variables are another process's. Returns 0, or
 * -1 after it has said what cannot be served: what does not listen (Accept=yes), datagrams, names that are no files.
 */
int supervisor_take(const char *runtime_dir, struct supervisor_sockets *ret);

/* Tell $NOTIFY_SOCKET, if there is one, such as "READY=1"; that nobody hears it is logged. */
void supervisor_tell(const char *words);
