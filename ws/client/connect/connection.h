/* Which server a command line is for, and the way to it. */
#pragma once

#include "ws/client/connect/cli.h"

/* Find the server. Returns 0, or the status to end with; then standard error says why. */
int connection_open(struct cli *cli);
void connection_close(struct cli *cli);

/*
 * Whether somebody listens there now. Returns 0 or a negative errno; servers elsewhere are taken to.
 */
int connection_probe(const struct cli *cli);
