/* Claims of ids, see claims.h. */
#include "shell/cluster/claims.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#define INDEX_HELD "held"

/* What is known of a key of the registry. */
enum stored {
	STORED_UNKNOWN,
	STORED_ABSENT, /* it does not exist, or is not ours */
	STORED_OURS,
};

/* A claim. It is in the queue, or a call is out, or it is settled, or it waits for claims_check(). */
struct claim {
	struct claim *prev, *next; /* in its queue */
	UT_hash_handle hh;         /* by object */
	struct object_id object;   /* unused bytes are 0 */
	struct claims *claims;
	bool wanted;          /* the object exists or is being made */
	bool required;        /* fn needs the outcome */
	bool forgotten;       /* claims_end() is awaited, nothing is written */
	bool busy;            /* a call is out */
	struct claim **queue; /* NULL: none */
	bool seen;            /* in the list of claims_check() */
	bool reported;        /* that it was forgotten */
	enum stored id, index;
	uint64_t revision; /* of the id, if that is ours */
	uint64_t due_ms;   /* of a retry */
	claim_fn *fn;      /* NULL: reported */
	void *user;
};

enum check { CHECK_NONE, CHECK_DUE, CHECK_OUT };

struct claims {
	struct claims_options options;
	struct claim *table;
	struct claim *ready; /* queue: to go on now */
	struct claim *retry; /* queue: to go on at due_ms, in its order */
	unsigned busy;
	enum check check;
	uint64_t check_due_ms;
	bool checked; /* once */
	unsigned conflicts;
};

static void advance(struct claim *k);

static uint64_t now(const struct claims *c)
{
	return c->options.now_ms(c->options.user);
}

static struct claim *find(const struct claims *c, const struct object_id *o)
{
	struct claim *k;
	const struct object_id key = object_id_of(o->kind, o->id);
	HASH_FIND(hh, c->table, &key, sizeof key, k);
	return k;
}

static struct claim *add(struct claims *c, const struct object_id *o)
{
	struct claim *k = calloc(1, sizeof *k);
	if (!k)
		return NULL;
	k->object = object_id_of(o->kind, o->id);
	k->claims = c;
	HASH_ADD(hh, c->table, object, sizeof k->object, k);
	if (!k->hh.tbl) {
		free(k);
		return NULL;
	}
	return k;
}

static void unqueue(struct claim *k)
{
	if (k->queue)
		DL_DELETE(*k->queue, k); /* NOLINT(clang-analyzer-*): it is in the list */
	k->queue = NULL;
}

static void discard(struct claim *k)
{
	assert(!k->busy && !k->fn);
	unqueue(k);
	HASH_DEL(k->claims->table, k);
	free(k);
}

static void enqueue(struct claim *k, struct claim **queue)
{
	unqueue(k);
	k->queue = queue;
	DL_APPEND(*queue, k);
}

/* Report the outcome, once. */
static void report(struct claim *k, int error, const char *owner)
{
	claim_fn *fn = k->fn;
	k->fn = NULL;
	if (fn)
		fn(k->user, error, owner);
}

/* The store cannot be reached. */
static void fail(struct claim *k)
{
	k->due_ms = now(k->claims) + CLAIMS_RETRY_MS;
	enqueue(k, &k->claims->retry);
	if (k->fn && k->required)
		k->wanted = false;
	report(k, k->wanted ? 0 : -ENOTCONN, NULL);
}

/* Another node has the id. */
static void lose(struct claim *k, const char *owner)
{
	struct claims *c = k->claims;
	bool adopted = !k->fn;
	k->wanted = false;
	k->id = STORED_ABSENT;
	enqueue(k, &c->ready);
	if (adopted && c->options.conflict) {
		struct object_id object = k->object;
		c->conflicts++;
		c->options.conflict(c->options.user, &object, owner);
	} else {
		report(k, -EEXIST, owner);
	}
}

/* A call has ended. */
static void leave(struct claim *k)
{
	assert(k->busy);
	k->busy = false;
	k->claims->busy--;
}

static void on_index_written(void *user, const struct bucket_answer *a)
{
	struct claim *k = user;
	leave(k);
	if (a->error != -ENOTCONN)
		k->index = a->error == 0 ? STORED_OURS : STORED_UNKNOWN;
	if (a->error < 0)
		fail(k);
	else
		advance(k);
}

static void on_index_removed(void *user, const struct bucket_answer *a)
{
	struct claim *k = user;
	leave(k);
	if (a->error == 0 || a->error == -ENOENT)
		k->index = STORED_ABSENT;
	if (k->index == STORED_ABSENT)
		advance(k);
	else
		fail(k);
}

static void on_read(void *user, const struct bucket_answer *a)
{
	struct claim *k = user;
	bool ours = a->error == 0 && strcmp(a->value, k->claims->options.node) == 0;
	leave(k);
	if (a->error < 0 && a->error != -ENOENT) {
		fail(k);
		return;
	}
	k->id = ours ? STORED_OURS : STORED_ABSENT;
	k->revision = ours ? a->revision : 0;
	if (a->error == 0 && !ours && k->wanted)
		lose(k, a->value);
	else
		advance(k);
}

static void on_created(void *user, const struct bucket_answer *a)
{
	struct claim *k = user;
	leave(k);
	if (a->error == 0) {
		k->id = STORED_OURS;
		k->revision = a->revision;
		advance(k);
	} else if (a->error == -EEXIST) {
		k->id = STORED_UNKNOWN; /* read it: it may be a left-over of ours */
		advance(k);
	} else {
		k->id = a->error == -ENOTCONN ? k->id : STORED_UNKNOWN;
		fail(k);
	}
}

static void on_removed(void *user, const struct bucket_answer *a)
{
	struct claim *k = user;
	leave(k);
	if (a->error == 0 || a->error == -ENOENT || a->error == -EEXIST) {
		/* With another revision it is another claim's. */
		k->id = a->error == -EEXIST ? STORED_UNKNOWN : STORED_ABSENT;
		advance(k);
	} else {
		k->id = a->error == -ENOTCONN ? k->id : STORED_UNKNOWN;
		fail(k);
	}
}

/* The next call for an object that exists. Returns 1 if there is none, 0, or a negative errno of the bucket. */
static int raise(struct claim *k)
{
	char key[BUCKET_KEY_SIZE];
	struct bucket *b = k->claims->options.bucket;
	const char *node = k->claims->options.node;
	if (k->index != STORED_OURS) {
		key_of_index(node, &k->object, key);
		return bucket_put(b, key, INDEX_HELD, BUCKET_ANY, on_index_written, k);
	}
	if (k->id == STORED_OURS)
		return 1;
	key_of_object(&k->object, key);
	return k->id == STORED_UNKNOWN ? bucket_get(b, key, on_read, k)
				       : bucket_put(b, key, node, BUCKET_ABSENT, on_created, k);
}

/* The next call for an object that does not exist. Returns as raise(). */
static int lower(struct claim *k)
{
	char key[BUCKET_KEY_SIZE];
	struct bucket *b = k->claims->options.bucket;
	key_of_object(&k->object, key);
	if (k->id == STORED_UNKNOWN)
		return bucket_get(b, key, on_read, k);
	if (k->id == STORED_OURS)
		return bucket_remove(b, key, k->revision, on_removed, k);
	if (k->index == STORED_ABSENT)
		return 1;
	key_of_index(k->claims->options.node, &k->object, key);
	return bucket_remove(b, key, BUCKET_ANY, on_index_removed, k);
}

/* Take the next step, if no call is out. k may be discarded. */
static void advance(struct claim *k)
{
	if (k->busy || k->forgotten)
		return;
	unqueue(k);
	int rc = k->wanted ? raise(k) : lower(k);
	if (rc == 0) {
		k->busy = true;
		k->claims->busy++;
	} else if (rc < 0) {
		fail(k);
	} else if (k->wanted) {
		report(k, 0, NULL);
	} else {
		discard(k);
	}
}

void claims_begin(
	struct claims *c, const struct object_id *o, bool required, claim_fn *fn, void *user)
{
	struct claim *k = find(c, o);
	if (k && (k->wanted || k->forgotten)) {
		fn(user, -EEXIST, c->options.node);
		return;
	}
	bool left = k != NULL;
	k = left ? k : add(c, o);
	if (!k) {
		fn(user, -ENOMEM, NULL);
		return;
	}
	if (!left)
		k->id = k->index = STORED_ABSENT;
	k->wanted = true;
	k->required = required;
	k->fn = fn;
	k->user = user;
	advance(k);
}

void claims_adopt(struct claims *c, const struct object_id *o)
{
	struct claim *k = find(c, o);
	k = k ? k : add(c, o);
	/* Without memory it stays unregistered until the next check. */
	if (!k)
		return;
	k->wanted = true;
	if (c->checked && !k->busy)
		enqueue(k, &c->ready);
}

void claims_end(struct claims *c, const struct object_id *o)
{
	struct claim *k = find(c, o);
	if (!k) {
		k = add(c, o);
		if (!k)
			return;
		k->index = STORED_OURS; /* perhaps */
	}
	k->wanted = k->forgotten = false;
	if (!k->busy)
		enqueue(k, &c->ready);
	claims_turn(c);
}

bool claims_have(const struct claims *c, const struct object_id *o)
{
	const struct claim *k = find(c, o);
	return k && k->wanted;
}

/* Note an entry of the index. */
static void see(struct claims *c, const struct object_id *o, bool forgotten)
{
	struct claim *k = find(c, o);
	bool left = !k;
	k = k ? k : add(c, o);
	if (!k || k->busy)
		return;
	k->seen = true;
	k->index = STORED_OURS;
	if (left)
		enqueue(k, &c->ready);
	else if (forgotten && k->wanted && !k->fn)
		k->forgotten = true;
}

/* Let every claim compare its id. */
static void compare_all(struct claims *c)
{
	struct claim *k, *next;
	HASH_ITER (hh, c->table, k, next) {
		if (k->busy)
			continue; /* its next steps find out */
		if (!k->seen)
			k->index = STORED_ABSENT;
		k->seen = false;
		if (k->id == STORED_OURS)
			k->id = STORED_UNKNOWN;
		if (!k->forgotten)
			enqueue(k, &c->ready);
	}
}

/* Report one object that was forgotten. Returns false if there is none. */
static bool report_forgotten(struct claims *c)
{
	struct claim *k, *next;
	HASH_ITER (hh, c->table, k, next) {
		if (!k->forgotten || k->reported)
			continue;
		struct object_id object = k->object;
		k->reported = true;
		unqueue(k);
		c->options.forgotten(c->options.user, &object);
		return true;
	}
	return false;
}

static void on_list(void *user, int error, const struct bucket_entry *entries, size_t count)
{
	struct claims *c = user;
	struct object_id object;
	c->check = error < 0 ? CHECK_DUE : CHECK_NONE;
	c->check_due_ms = now(c) + CLAIMS_RETRY_MS;
	if (error < 0)
		return;
	for (size_t i = 0; i < count; i++)
		if (key_parse_index(entries[i].key, &object))
			see(c, &object, strcmp(entries[i].value, INDEX_FORGOTTEN) == 0);
	c->checked = true;
	compare_all(c);
	while (report_forgotten(c))
		;
	claims_turn(c);
}

void claims_check(struct claims *c)
{
	if (c->check == CHECK_OUT)
		return;
	c->check = CHECK_DUE;
	c->check_due_ms = 0;
	claims_turn(c);
}

static void send_check(struct claims *c)
{
	char prefix[BUCKET_KEY_SIZE];
	key_of_index_prefix(c->options.node, prefix);
	c->check = CHECK_OUT;
	int rc = bucket_list(c->options.bucket, prefix, on_list, c);
	if (rc < 0)
		on_list(c, rc, NULL, 0);
}

uint64_t claims_turn(struct claims *c)
{
	uint64_t now_ms = now(c);
	if (c->check == CHECK_DUE && c->check_due_ms <= now_ms)
		send_check(c);
	while (c->retry && c->retry->due_ms <= now_ms)
		enqueue(c->retry, &c->ready);
	while (c->ready && c->busy < CLAIMS_BUSY_MAX)
		advance(c->ready); /* NOLINT(clang-analyzer-*): it unqueues the claim */
	uint64_t due_ms = c->ready ? now_ms + 1 : c->retry ? c->retry->due_ms : UINT64_MAX;
	return c->check == CHECK_DUE && c->check_due_ms < due_ms ? c->check_due_ms : due_ms;
}

void claims_count(const struct claims *c, struct claims_counts *ret)
{
	const struct claim *k, *next;
	*ret = (struct claims_counts){.conflicts = c->conflicts};
	HASH_ITER (hh, c->table, k, next) {
		bool held = k->wanted && k->id == STORED_OURS && k->index == STORED_OURS;
		ret->held += held;
		ret->waiting += k->wanted && !held;
		ret->leaving += !k->wanted;
	}
}

struct claims *claims_open(const struct claims_options *options)
{
	struct claims *c = calloc(1, sizeof *c);
	if (c)
		c->options = *options;
	return c;
}

void claims_close(struct claims *c)
{
	struct claim *k, *next;
	if (!c)
		return;
	HASH_ITER (hh, c->table, k, next) {
		HASH_DEL(c->table, k); /* NOLINT(clang-analyzer-*): it is uthash's */
		free(k);
	}
	free(c);
}
