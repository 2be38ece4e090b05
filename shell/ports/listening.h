/*
 * The kernel's table of TCP sockets, as /proc/net/tcp and /proc/net/tcp6 have it: those that listen where this machine
 * reaches them by 127.0.0.1 or ::1. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LISTENING_MAX 1024u  /* ports */
#define LISTENING_SOCKETS 4u /* of one port that are told of */

struct listening_port {
	uint16_t port;
	bool v4, v6; /* by 127.0.0.1; by ::1 */
	uint64_t inodes[LISTENING_SOCKETS];
	unsigned inodes_count;
};

struct listening {
	struct listening_port ports[LISTENING_MAX]; /* by number */
	size_t count;
	bool truncated; /* there are more */
};

/* Add what a table says. v6: it is that of tcp6. Lines that make no sense are left out. */
void listening_add(struct listening *l, const char *text, size_t length, bool v6);

/* Whether both say the same. */
bool listening_is_same(const struct listening *a, const struct listening *b);
