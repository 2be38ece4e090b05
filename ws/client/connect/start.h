/* A server in the background, for a command that needs one where none runs. */
#pragma once

#include "ws/client/connect/cli.h"

/*
 * As connection_open(), but a server is started where none runs, unless the command line or the environment names one
 * (--socket, --url, $RINGSIDE_SOCKET) or says --no-start. It is `ringside serve` in the background, of the same options
 * as every other, with its log in its runtime directory; two at once start exactly one.
 * Returns 0 once it answers, or the status to end with; then standard error says why. Commands whose `starts` is set need
 * not call it: connection_open() does the same for them.
 */
int start_open(struct cli *cli);

/*
 * The step of it that starts one: cli->path is the socket that nobody listens on, in the default runtime directory.
 * Returns 0 once somebody does, or the status to end with.
 */
int start_server(struct cli *cli);
