/*
 * A key-value store in memory, with virtual time, for tests of shell/cluster: the buckets of any number of nodes. Each call
 * takes time; a node may be cut off, and answers may be lost.
 */
#pragma once

#include "shell/cluster/bucket.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_store;

/* What happens to the calls of a bucket. */
enum memory_link {
	LINK_GOOD,
	LINK_AWAY,        /* -ENOTCONN */
	LINK_LOSES_CALL,  /* -ETIMEDOUT, nothing happens */
	LINK_LOSES_REPLY, /* -ETIMEDOUT, it happens */
};

/* A node's bucket. */
struct memory_bucket {
	struct bucket head;
	struct memory_store *store;
	enum memory_link link;
};

/* The store's work so far. */
struct memory_counts {
	uint64_t calls, bytes; /* keys and values, both ways */
	uint64_t entries;      /* that lists have returned */
};

/* latency_ms: of each call. ttl_ms: age at which keys expire; 0: never. Returns it for memory_store_destroy(). */
struct memory_store *memory_store_create(unsigned latency_ms, unsigned ttl_ms);

/* Free all. */
void memory_store_destroy(struct memory_store *s);

/* Make a bucket of the store, in the caller's memory. */
void memory_bucket_init(struct memory_bucket *b, struct memory_store *s);

/* The virtual time in ms; for options of shell/cluster. user: the store. */
uint64_t memory_store_now(void *user);

/* Answer the next call, if it is due until limit_ms; the time becomes that when it is due. Returns false if there is none. */
bool memory_store_step(struct memory_store *s, uint64_t limit_ms);

/* Answer all calls that are due until limit_ms, and let the time be that. */
void memory_store_run(struct memory_store *s, uint64_t limit_ms);

/* The value of a key; NULL: there is none. */
const char *memory_store_value(const struct memory_store *s, const char *key);

/* Write or (NULL) remove a key. */
void memory_store_set(struct memory_store *s, const char *key, const char *value);

/* The number of keys. */
size_t memory_store_count(const struct memory_store *s);

/* Get the numbers. */
struct memory_counts memory_store_counts(const struct memory_store *s);
