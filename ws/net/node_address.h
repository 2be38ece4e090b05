/* The address of another node: its URL, and a lookup of its host on a thread. */
#pragma once

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* libwebsockets cuts longer ones. */
#define NODE_ADDRESS_HOST_MAX 110u
#define NODE_ADDRESS_TARGET_MAX 2032u

#define NODE_ADDRESS_IPS_MAX 3u /* of a host that are tried */

/* A parsed URL. */
struct node_address {
	bool tls;
	uint16_t port;
	char host[NODE_ADDRESS_HOST_MAX + 1];           /* a name or an address, without brackets */
	char authority[NODE_ADDRESS_HOST_MAX + 1 + 10]; /* Host; without the default port */
	char *target;                                   /* path and query of a request; owned */
};

/*
 * Parse http(s)://HOST[:PORT][/PREFIX]. target: "/…", encoded, which comes after the prefix.
 * Returns 0, -EINVAL, -E2BIG if the target is too long, or -ENOMEM.
 */
int node_address_read(const char *url, const char *target, struct node_address *ret_address);

void node_address_finish(struct node_address *a);

/* The addresses of a host as text. */
struct node_ips {
	char ip[NODE_ADDRESS_IPS_MAX][INET6_ADDRSTRLEN];
	unsigned count; /* 0: it has none, or the lookup failed */
};

/* Whether host is an address already. */
bool node_ips_parse(const char *host, struct node_ips *ret_ips);

struct node_lookup;

/* The lookup has ended, and is freed. */
typedef void (*node_lookup_done)(void *user, const struct node_ips *ips);

/* Look a host up. Returns NULL when memory is short. */
struct node_lookup *node_lookup_begin(
	uv_loop_t *loop, const char *host, node_lookup_done done, void *user);

/* done() is not called. NULL is allowed. The loop runs until the thread is finished. */
void node_lookup_cancel(struct node_lookup *l);
