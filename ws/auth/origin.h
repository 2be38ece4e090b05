/*
 * The Host and Origin headers that are allowed. The Host check stops DNS rebinding (an attacker's page whose name resolves
 * to this server). The exact Origin check stops cross-site requests and sockets. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ORIGIN_ENTRIES_MAX 64u
#define ORIGIN_TEXT_MAX 300u

/* The allowed names. */
struct origin_policy {
	char own[ORIGIN_ENTRIES_MAX][ORIGIN_TEXT_MAX]; /* "127.0.0.1:7070": of the listeners */
	size_t own_count;
	const char *hosts[ORIGIN_ENTRIES_MAX]; /* --allow-host, with or without a port; borrowed */
	size_t hosts_count;
	const char *origins[ORIGIN_ENTRIES_MAX]; /* --allow-origin, "https://example.com"; borrowed */
	size_t origins_count;
	bool loopback; /* there is a loopback listener: loopback names are allowed with any port (port forwarding) */
	bool exact; /* names below localhost are not among them */
	bool tls;   /* our own scheme is https */
};

/* Add the names of a TCP listener: its address, and for a loopback or wildcard address the loopback names. */
void origin_add_listener(struct origin_policy *p, const char *address, unsigned port);

/* Add a host of --allow-host. Returns false if there are too many, or it is invalid. */
bool origin_add_host(struct origin_policy *p, const char *host);

/* Add an origin of --allow-origin. Returns false if there are too many, or it is invalid. */
bool origin_add_origin(struct origin_policy *p, const char *origin);

/* Whether a Host header is allowed; NULL (none) is not. */
bool origin_host_is_allowed(const struct origin_policy *p, const char *host);

/* Whether --allow-origin names origin; then its pages may read answers (CORS). */
bool origin_is_configured(const struct origin_policy *p, const char *origin);

/* Whether origin (not NULL) is that of our own page, as served under host (NULL: none), which must be allowed. */
bool origin_is_own(const struct origin_policy *p, const char *origin, const char *host);

/* Whether a request with this Origin (not NULL) and Host is allowed: origin_is_configured() or origin_is_own(). */
bool origin_is_allowed(const struct origin_policy *p, const char *origin, const char *host);
