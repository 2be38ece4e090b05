/*
 * A bucket of a key-value store: values with revisions, written by compare-and-set, as in NATS JetStream (ADR-8). All calls
 * are asynchronous, so that a store that does not answer never blocks the loop.
 *
 * A key is one or more tokens of A-Z a-z 0-9 _ - = with dots between them, see shell/cluster/key.h. A revision grows with
 * each write to the bucket, and is never 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BUCKET_KEY_SIZE 640u   /* bytes of a key with its NUL */
#define BUCKET_VALUE_MAX 4096u /* bytes */
#define BUCKET_ABSENT 0u       /* expected revision: the key does not exist */
#define BUCKET_ANY UINT64_MAX  /* expected revision: whatever there is */

struct bucket;

/*
 * The result of a call. error: 0; -ENOENT: no such key; -EEXIST: the key has another revision than expected, nothing was
 * written; -ENOTCONN: the store cannot be reached, nothing was written; -ETIMEDOUT: it did not answer, and a write may have
 * happened or may still happen; -ECANCELED: the bucket closes, as after -ETIMEDOUT.
 */
struct bucket_answer {
	int error;
	uint64_t revision; /* of a value read or written */
	const char *value; /* of a value read; NUL-terminated, borrowed for the call */
	size_t length;
};

/* A key and its value, borrowed. */
struct bucket_entry {
	const char *key;
	const char *value; /* NUL-terminated */
	size_t length;
	uint64_t revision;
};

typedef void bucket_fn(void *user, const struct bucket_answer *answer);

/* entries: in no order. error as above; then there are no entries. */
typedef void bucket_list_fn(void *user, int error, const struct bucket_entry *entries, size_t count);

/*
 * The operations of one kind of bucket. Each returns 0, or -ENOMEM or -ENOBUFS (too many calls wait) and then does not call
 * back. Callbacks come later, from the loop, in any order.
 */
struct bucket_kind {
	int (*get)(struct bucket *b, const char *key, bucket_fn *fn, void *user);
	int (*put)(struct bucket *b, const char *key, const char *value, uint64_t expected,
		bucket_fn *fn, void *user);
	int (*remove)(
		struct bucket *b, const char *key, uint64_t expected, bucket_fn *fn, void *user);
	int (*list)(struct bucket *b, const char *prefix, bucket_list_fn *fn, void *user);
};

/* The head of each kind's struct. */
struct bucket {
	const struct bucket_kind *kind;
	/* How often the store could be reached again after a time without it; 0: never yet. For the loop's thread only. */
	unsigned connections;
};

/* Read a key. */
static inline int bucket_get(struct bucket *b, const char *key, bucket_fn *fn, void *user)
{
	return b->kind->get(b, key, fn, user);
}

/* Write a key if it has the expected revision. value: at most BUCKET_VALUE_MAX bytes. */
static inline int bucket_put(struct bucket *b, const char *key, const char *value,
	uint64_t expected, bucket_fn *fn, void *user)
{
	return b->kind->put(b, key, value, expected, fn, user);
}

/* Remove a key if it has the expected revision; a key that does not exist is -ENOENT. */
static inline int bucket_remove(
	struct bucket *b, const char *key, uint64_t expected, bucket_fn *fn, void *user)
{
	return b->kind->remove(b, key, expected, fn, user);
}

/* Read all keys below a prefix, which ends in a dot, or all keys ("") of the bucket. */
static inline int bucket_list(struct bucket *b, const char *prefix, bucket_list_fn *fn, void *user)
{
	return b->kind->list(b, prefix, fn, user);
}
