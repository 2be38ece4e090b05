/*
 * The known directories of a watched tree, found by parent and name, or by inotify watch descriptor (wd).
 * Directories that are still to be read are in a queue. No I/O; used by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#define TREE_UNWATCHED (-1)
#define TREE_TRIES_MAX 8u /* of one directory that appears under several names */

/* A directory. */
struct directory {
	UT_hash_handle by_name, by_wd;
	struct directory *parent;      /* NULL: the root */
	struct directory *prev, *next; /* siblings */
	struct directory *children;    /* list */
	struct directory *queue_prev, *queue_next;
	uint64_t id;        /* does not change when it is renamed */
	uint64_t seen;      /* the sweep (see struct source) that found it last */
	char *key;          /* the parent's id, then the name; owned */
	size_t name_length; /* bytes */
	int wd;             /* or TREE_UNWATCHED */
	unsigned char tries;
	bool is_queued;
	bool fresh; /* report its content as created */
};

/* All directories of a tree. */
struct tree {
	struct directory *root;
	struct directory *names, *wds; /* tables */
	struct directory *line;        /* list: the queue */
	uint64_t ids;                  /* given so far */
	size_t count;
};

/* Start with the root alone. Returns 0 or -ENOMEM. */
int tree_init(struct tree *t);

/* Free all directories. */
void tree_finish(struct tree *t);

/* Find a directory by parent and name, or NULL. */
struct directory *tree_find(
	const struct tree *t, const struct directory *parent, const char *name, size_t length);

/* Find a directory by its watch descriptor, or NULL. */
struct directory *tree_find_wd(const struct tree *t, int wd);

/* Add a directory that is not in the tree. Returns NULL if out of memory. */
struct directory *tree_add(
	struct tree *t, struct directory *parent, const char *name, size_t length);

/*
 * Set the watch descriptor, which no other directory has; or TREE_UNWATCHED. Returns 0, or -ENOMEM: it is
 * unwatched then.
 */
int tree_set_wd(struct tree *t, struct directory *d, int wd);

/* Change parent and name, which must be free. Returns 0, or -ENOMEM: tree_find() may not find it any more then. */
int tree_move(struct tree *t, struct directory *d, struct directory *parent, const char *name,
	size_t length);

/* Called with the watch descriptor of a removed directory. */
typedef void tree_removed_fn(void *user, int wd);

/* Remove a directory, not the root, with all below it. forget: called for each that is watched. */
void tree_remove(struct tree *t, struct directory *d, tree_removed_fn *forget, void *user);

/* Whether a directory is below another, or the same. */
bool tree_is_below(const struct directory *d, const struct directory *above);

/* Append a directory to the queue, unless it is in there. */
void tree_queue(struct tree *t, struct directory *d);

/* Remove a directory from the queue. */
void tree_unqueue(struct tree *t, struct directory *d);

/*
 * The path of name ("": of d itself) relative to the root: "/a/b". Returns its length, or 0 if it does not fit
 * into size bytes; the path of the root is "", of length 0.
 */
size_t tree_path(const struct directory *d, const char *name, char *ret_path, size_t size);
