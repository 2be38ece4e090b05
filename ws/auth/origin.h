/*
 * Which hosts and origins a request may name. The Host allow-list stops DNS rebinding (a page of the
 * attacker's whose name resolves to us), the exact Origin check stops cross-site requests and sockets.
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ORIGIN_ENTRIES_MAX 64u
#define ORIGIN_TEXT_MAX 300u

struct origin_policy {
	char own[ORIGIN_ENTRIES_MAX][ORIGIN_TEXT_MAX]; /* "127.0.0.1:7070": what we listen on */
	size_t own_count;
	const char *hosts[ORIGIN_ENTRIES_MAX]; /* --allow-host, with or without a port; borrowed */
	size_t hosts_count;
	const char *origins[ORIGIN_ENTRIES_MAX]; /* --allow-origin, "https://example.com"; borrowed */
	size_t origins_count;
	bool loopback; /* we listen there: its names are right with any port, which may have been forwarded to ours */
	bool tls; /* our own scheme is https */
};

/* Add the names under which a TCP listener is reached: its address, and those of loopback. */
void origin_add_listener(struct origin_policy *p, const char *address, unsigned port);

/* Add an allowed host or origin. Returns false when there are too many, or it cannot be one. */
bool origin_add_host(struct origin_policy *p, const char *host);
bool origin_add_origin(struct origin_policy *p, const char *origin);

/* Whether a Host header (NULL if there is none) may be served. */
bool origin_host_is_allowed(const struct origin_policy *p, const char *host);

/* Whether --allow-origin names it: then pages of it may read what they ask for. */
bool origin_is_configured(const struct origin_policy *p, const char *origin);

/* Whether an Origin header is that of our own page, as this (allowed) host shows it; NULL: no host. origin: not NULL. */
bool origin_is_own(const struct origin_policy *p, const char *origin, const char *host);

/* Whether an Origin header goes with a request for this (allowed) host. origin: not NULL. */
bool origin_is_allowed(const struct origin_policy *p, const char *origin, const char *host);
