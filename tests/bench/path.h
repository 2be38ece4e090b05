/*
 * A program on a terminal that a benchmark types into and reads from, by whichever way: a bare PTY, a relay, a session.
 * A failure ends the benchmark.
 */
#pragma once

#include "client.h"
#include "relay.h"
#include "target.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct path {
	int fd;                      /* of the master, or of the client's socket */
	struct client *client;       /* or NULL: fd is written and read as it is */
	const struct target *target; /* whose session it is, if path_close() is to delete that; or NULL */
	char session[32];            /* its id */
	pid_t pid;      /* of the program on a bare PTY, of a session's holder; otherwise 0 */
	uint64_t bytes; /* that have come since path_settle() */
	bool ended;     /* the program has, and there is no more to read */
};

/* Start a script, which has to print READY. script: its path, borrowed; a relay is given the name in it. */
struct path path_bare(const char *script);
struct path path_relay(const struct relay *r, const char *script);
struct path path_session(const struct target *t, const char *id, const char *script);

/* One more client of a session. query: as client_open() has it. */
struct path path_viewer(const struct target *t, const char *id, const char *query);

/* A byte over loopback TCP and back: a process of its own, whose pid path_close() kills. */
struct path path_tcp(void);

/* Close it, and end the program; that of a session ends with the path that has started it. */
void path_close(struct path *p);

void path_put(const struct path *p, const char *keys);

/* Read once, waiting for it unless fd does not block. Returns bytes of the socket or terminal; 0 at the end too. */
size_t path_read(struct path *p);

/* Read and forget what comes until nothing has come for so long. */
void path_drain(struct path *p, int quiet_ms);

/* Read what has come so far, and count from here on. From now on fd does not block. */
void path_settle(struct path *p);

/* Type that many keys, wait for the echo of each; us: how long that took, microseconds. pause_us: before each key. */
void path_echo(struct path *p, unsigned pause_us, double *us, unsigned count);
