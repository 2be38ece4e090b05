/*
 * Parser for the kernel's table of TCP sockets, /proc/net/tcp and /proc/net/tcp6: sockets that
 * listen and are reachable by 127.0.0.1 or ::1. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LISTENING_MAX 1024u  /* ports */
#define LISTENING_SOCKETS 4u /* sockets per port; further ones are left out */

/* A port, and the sockets that listen on it. */
struct listening_port {
	uint16_t port;
	bool v4, v6; /* reachable by 127.0.0.1; by ::1 */
	uint64_t inodes[LISTENING_SOCKETS];
	unsigned inodes_count;
};

/* All listening ports. Starts zeroed. */
struct listening {
	struct listening_port ports[LISTENING_MAX]; /* sorted by port */
	size_t count;
	bool truncated; /* there are more ports */
};

/* Parse a table and add its ports. v6: it is tcp6. Invalid lines are skipped. */
void listening_add(struct listening *l, const char *text, size_t length, bool v6);

/* Whether both have the same ports and sockets. */
bool listening_is_same(const struct listening *a, const struct listening *b);
