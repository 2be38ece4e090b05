/*
 * A program on a terminal, for reading and typing by any way: a bare PTY, a relay or a session. A failure ends the
 * benchmark.
 */
#pragma once

#include "client.h"
#include "relay.h"
#include "target.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct path {
	int fd;                      /* the master, or the client's socket */
	struct client *client;       /* or NULL: plain bytes on fd */
	const struct target *target; /* of a session that path_close() deletes; or NULL */
	char session[32];            /* its id */
	pid_t pid;      /* of the program on a bare PTY or a session's holder; otherwise 0 */
	uint64_t bytes; /* since path_settle() */
	bool ended;     /* the program has exited, and all output has been read */
};

/* Start a script, which must print READY. script: its path, borrowed; a relay is given the file's name. */
struct path path_bare(const char *script);
struct path path_relay(const struct relay *r, const char *script);
struct path path_session(const struct target *t, const char *id, const char *script);

/* Open another client of a session. query: as in client_open(). */
struct path path_viewer(const struct target *t, const char *id, const char *query);

/* Close the path and kill its program; a session is killed with the path that started it. */
void path_close(struct path *p);

void path_put(const struct path *p, const char *keys);

/* Read once; blocks unless fd does not. Returns the bytes read from the socket or terminal; 0 also at the end. */
size_t path_read(struct path *p);

/* Discard output until there was none for quiet_ms. */
void path_drain(struct path *p, int quiet_ms);

/* Discard the output so far and count from here on. From now on fd does not block. */
void path_settle(struct path *p);

/* Type count keys and wait for the echo of each. us: the times, in microseconds. pause_us: pause before each key. */
void path_echo(struct path *p, unsigned pause_us, double *us, unsigned count);
