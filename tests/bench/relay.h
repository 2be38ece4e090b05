/*
 * The simplest terminal in a browser, like ttyd's: one process, a program on a PTY for each WebSocket, one binary frame
 * for each read(), and no further read() until that frame has been written. It keeps no history, parses nothing and
 * drops the program when the connection ends. Ringside's additional cost is the price of sessions.
 */
#pragma once

#include <sys/types.h>

struct relay {
	pid_t pid;
	unsigned port;
};

/* Start the relay, which dies with the benchmark. dir: borrowed; has the programs, which clients name as their session. */
void relay_open(struct relay *r, const char *dir);
void relay_close(struct relay *r);
