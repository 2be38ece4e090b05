/* Starts a server in the background for a command that needs one. */
#pragma once

#include "ws/client/connect/cli.h"

/*
 * connection_open() for commands that do not set `starts`: if no server runs, start `ringside
 * serve` in the background, unless --no-start is given or the server is named (--socket, --url,
 * $RINGSIDE_SOCKET). Its log is in its runtime directory. Two calls at once start one server.
 * Returns 0 once the server accepts connections, or the exit status; errors are reported.
 */
int start_connect(struct cli *cli);

/*
 * Start a server that listens on cli->path, in the default runtime directory. Returns 0 once it
 * accepts connections, or the exit status; errors are reported.
 */
int start_server(struct cli *cli);
