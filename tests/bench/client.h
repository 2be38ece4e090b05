/*
 * A small fast client of the terminal socket: the part of RFC 6455 that the server uses, over loopback TCP. It
 * processes the payload in the read buffer. Any protocol error ends the benchmark.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENT_READ ((size_t)256 << 10)

struct client {
	int fd;
	uint8_t header[10]; /* of the current frame */
	unsigned header_length;
	uint64_t left; /* payload bytes to come */
	bool in_frame, binary;
	char text[65536]; /* the current text frame */
	size_t text_length;
	uint64_t offset;        /* of the session's output, after the last byte received */
	uint64_t bytes;         /* of output */
	uint8_t last;           /* the last one */
	uint64_t snapshot_left; /* bytes to come of a snapshot */
	uint64_t snapshot_bytes;
	unsigned skips; /* snapshots that replaced output */
	bool plain;     /* the other end is a relay */
	bool ready, exited;
	uint64_t exit_offset; /* the end of the output, once exited */
	const char *wanted;   /* text to look for in the output; or NULL */
	size_t wanted_found;
};

/* Connect to a port of the loopback, with TCP_NODELAY. Blocking. */
int client_connect(unsigned port);

/* Give the client's socket a small buffer, for a slow client. Call it before much has been received. */
void client_buffer_little(const struct client *c);

/*
 * Open the terminal socket of an existing session. Returns owned; client_close() frees it. query: further parameters,
 * such as "&lag=0", or "". wanted: text that client_wait() waits for, or NULL; borrowed.
 */
struct client *client_open(
	unsigned port, const char *session, const char *query, const char *wanted);

/*
 * The same with a relay, which sends only output. name: of the program. The client is ready at once, and has exited
 * when the relay closes the connection.
 */
struct client *client_open_plain(unsigned port, const char *name, const char *wanted);
void client_close(struct client *c);

/* Read once and process it. Returns bytes read; 0 if a non-blocking descriptor has none. */
size_t client_read(struct client *c, uint8_t *buffer, size_t size);

/* Wait for `ready` and the wanted text. Five seconds without data end the benchmark. */
void client_wait(struct client *c);

/* Send keys: at most 125 bytes. */
void client_type(struct client *c, const void *keys, size_t length);
