/*
 * The registry of a fleet in NATS JetStream: a connection, and two buckets. libnats blocks, so a few threads make the calls; a
 * server that does not answer delays only them.
 *
 * The connection is made and restored in the background, for as long as it takes. While there is none, calls fail at once.
 */
#pragma once

#include "shell/cluster/bucket.h"

#include <stdbool.h>
#include <uv.h>

#define NATS_STORE_CALLS_MAX 4096u /* calls that wait */
#define NATS_STORE_THREADS 4u
#define NATS_STORE_SERVERS_MAX 16u

struct nats_store;

/* All is borrowed for the call, except the loop. */
struct nats_options {
	uv_loop_t *loop;
	const char *servers; /* "nats://HOST:PORT", or several with commas between */
	const char *creds;   /* file with credentials; NULL: none */
	const char *name;    /* of the connection */
	unsigned ttl_ms;     /* age at which reports expire */
	/* The connection was made, or is lost because of `reason`, which has no secrets. On the loop. */
	void (*changed)(void *user, bool connected, const char *reason);
	void *user;
};

/* Begin to connect. Returns 0, and a store for nats_store_close(), -EINVAL (the servers or the file are invalid), or -ENOMEM. */
int nats_store_open(const struct nats_options *options, struct nats_store **ret_store);

/*
 * Close, when the process is about to end: calls that are out get -ECANCELED from inside. The memory stays; calls of its buckets
 * fail. NULL is fine.
 */
void nats_store_close(struct nats_store *s);

/* The bucket that keeps its values. */
struct bucket *nats_store_registry(struct nats_store *s);

/* The bucket in which values expire. */
struct bucket *nats_store_reports(struct nats_store *s);
