/* Which server a command line is for, and the way to it. */
#pragma once

#include "ws/client/connect/cli.h"

#include <sys/types.h>

/* Find the server. Returns 0, or the status to end with; then standard error says why. */
int connection_open(struct cli *cli);
void connection_close(struct cli *cli);

/*
 * Whether somebody listens there now. Returns 0 or a negative errno; servers elsewhere are taken to.
 */
int connection_probe(const struct cli *cli);

/* The process that listens on the socket. Returns 0 or a negative errno; -ESRCH: it cannot be seen from here. */
int connection_peer(const struct cli *cli, pid_t *ret_pid);

/* Whether a directory is one that others cannot have prepared. */
bool connection_is_ours(const char *dir);
