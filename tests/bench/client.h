/*
 * A small fast client of the terminal socket: RFC 6455 over loopback TCP, as much of it as the server
 * uses. Payload is looked at where read() has put it. Any protocol error ends the benchmark.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENT_READ ((size_t)256 << 10)

struct client {
	int fd;
	uint8_t header[10]; /* of the frame that is being read */
	unsigned header_length;
	uint64_t left; /* payload bytes to come */
	bool in_frame, binary;
	char text[65536]; /* the text frame that is being read */
	size_t text_length;
	uint64_t offset;        /* of the session's output, behind what has come */
	uint64_t bytes;         /* of output */
	uint8_t last;           /* the last that came */
	unsigned long frames;   /* binary ones */
	uint64_t snapshot_left; /* bytes of a snapshot that are still to come */
	uint64_t snapshot_bytes;
	unsigned snapshots, skips; /* skips: those of the snapshots that took the place of output */
	bool plain;                /* the other end is a relay */
	bool ready, exited;
	uint64_t exit_offset; /* of all that the session has written, once exited */
	const char *wanted;   /* text to look for in the output; or NULL */
	size_t wanted_found;
};

/* Connect to a port of the loopback, with TCP_NODELAY. Blocking. */
int client_connect(unsigned port);

/* The client's socket buffers little: for one that is slow. Before it has been sent much. */
void client_buffer_little(const struct client *c);

/*
 * Open the terminal socket of a session that exists. Returns owned; client_close() frees it.
 * query: further parameters, such as "&lag=0", or "".
 * wanted: text that client_wait() waits for, or NULL; borrowed.
 */
struct client *client_open(
	unsigned port, const char *session, const char *query, const char *wanted);

/*
 * The same with a relay, which sends bytes and nothing else. name: of the program. It is ready at once, and has exited
 * when the relay closes the connection.
 */
struct client *client_open_plain(unsigned port, const char *name, const char *wanted);
void client_close(struct client *c);

/* One read() and what is in it. Returns bytes read (0: nothing to read, if the descriptor does not block). */
size_t client_read(struct client *c, uint8_t *buffer, size_t size);

/* Wait for `ready` and for the wanted text; five seconds of silence end the benchmark. */
void client_wait(struct client *c);

/* Send keystrokes: at most 125 bytes. */
void client_type(struct client *c, const void *keys, size_t length);
