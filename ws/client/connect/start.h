/* Starts a server in the background for a command that needs one. */
#pragma once

#include "ws/client/connect/cli.h"

/*
 * Start a server that listens on cli->path, in the default runtime directory, which has its log.
 * Two calls at once start one server. Returns 0 once the server accepts connections, or the exit
 * status; errors are reported.
 */
int start_server(struct cli *cli);
