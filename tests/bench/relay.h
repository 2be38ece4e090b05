/*
 * The plainest way to a terminal in a browser, as ttyd has it: one process, a program on a PTY for each WebSocket, one
 * binary frame for what one read() gives, and no further read() until that has been written. It keeps nothing, looks at
 * nothing and forgets the program when the connection ends: what Ringside costs beyond this is the price of sessions.
 */
#pragma once

#include <sys/types.h>

struct relay {
	pid_t pid;
	unsigned port;
};

/* Start it; it dies with the benchmark. dir: of the programs, each of which a client names as its session; borrowed. */
void relay_open(struct relay *r, const char *dir);
void relay_close(struct relay *r);
