/*
 * Calls of NATS JetStream, by libnats. They block until the server has answered or NATS_CALL_MS have passed, so only threads of
 * shell/cluster/nats_store.h make them. The only code that uses libnats.
 *
 * A bucket is a stream with one message for each key, as ADR-8 describes it ("nats kv" reads it), except that messages may be
 * deleted: a removed key leaves no marker behind.
 */
#pragma once

#include "shell/cluster/bucket.h"

#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define NATS_CALL_MS 2000
#define NATS_LIST_MS 10000 /* for a list */
#define NATS_REPLICAS 3    /* of a bucket, if the servers are a cluster; otherwise 1 */

/* What is stored, and where. */
struct nats_stream {
	const char *bucket; /* a literal */
	bool memory;        /* in memory instead of in files */
	unsigned ttl_ms;    /* age at which keys expire; 0: never */
	kvStore *kv;        /* NULL: not opened yet */
	atomic_bool exists;
	pthread_mutex_t lock; /* of kv, and while the stream is made */
};

/* A connection. */
struct nats_link {
	natsConnection *connection;
	jsCtx *jetstream;
};

/* The entries of a list; all owned. */
struct nats_list {
	struct bucket_entry *entries;
	size_t count, size;
};

/* Translate a status, of a call that is repeatable or has been sent. */
int nats_call_error(natsStatus status);

/* Read a key. Returns 0 and its value (owned by the caller) and revision, or an error of struct bucket_answer. */
int nats_call_get(struct nats_link *l, struct nats_stream *s, const char *key, char **ret_value,
	uint64_t *ret_revision);

/* Write a key with an expected revision. Returns 0 and the new revision, or an error. */
int nats_call_put(struct nats_link *l, struct nats_stream *s, const char *key, const char *value,
	uint64_t expected, uint64_t *ret_revision);

/* Remove a key with an expected revision. Returns 0 or an error. */
int nats_call_remove(struct nats_link *l, struct nats_stream *s, const char *key, uint64_t expected);

/* List the keys below a prefix. Returns 0, and the list for nats_list_finish(), or an error. */
int nats_call_list(
	struct nats_link *l, struct nats_stream *s, const char *prefix, struct nats_list *ret);

/* Free the entries. */
void nats_list_finish(struct nats_list *list);
