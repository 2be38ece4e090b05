/* Chooses the server of a command line and connects to it. */
#pragma once

#include "ws/client/connect/cli.h"

#include <sys/types.h>

/*
 * Choose the server, start it if the command does that, and open the loop and the client. Whether a
 * server answers at a URL shows with the first request. Returns 0 or the exit status; errors are
 * reported.
 */
int connection_open(struct cli *cli);

/* Close what connection_open() opened, if anything. */
void connection_close(struct cli *cli);

/*
 * Check that a server listens on the socket. Returns 0 or a negative errno. Servers at a URL are
 * not checked.
 */
int connection_probe(const struct cli *cli);

/*
 * The pid of the process that listens on the socket. Returns 0 or a negative errno; -ESRCH: the
 * process is in another pid namespace.
 */
int connection_peer(const struct cli *cli, pid_t *ret_pid);

/* Whether only this user and root can write to a directory. */
bool connection_is_private_dir(const char *dir);
