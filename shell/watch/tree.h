/*
 * The directories of a watched tree, as far as they are known: each by its name in its parent, and by what inotify calls it.
 * Those that are yet to be looked into stand in a line. No I/O; of one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#define TREE_UNWATCHED (-1)
#define TREE_TRIES_MAX 8u /* of one directory that is there under several names */

struct directory {
	UT_hash_handle by_name, by_wd;
	struct directory *parent;      /* NULL: the root */
	struct directory *prev, *next; /* siblings */
	struct directory *children;    /* list */
	struct directory *line_prev, *line_next;
	uint64_t id;        /* stays when it is renamed */
	uint64_t seen;      /* when it was last met, see tree_sweep() */
	char *key;          /* the parent's id, and then the name; owned */
	size_t name_length; /* bytes */
	int wd;             /* or TREE_UNWATCHED */
	unsigned char tries;
	bool in_line;
	bool fresh; /* what is in it is news */
};

struct tree {
	struct directory *root;
	struct directory *names, *wds; /* tables */
	struct directory *line;        /* list */
	uint64_t ids;                  /* given so far */
	size_t count;
};

/* Returns 0 or -ENOMEM. */
int tree_init(struct tree *t);
void tree_finish(struct tree *t);

/* The name of a directory in its parent; "" is the root's. */
const char *directory_name(const struct directory *d);

struct directory *tree_find(
	const struct tree *t, const struct directory *parent, const char *name, size_t length);
struct directory *tree_find_wd(const struct tree *t, int wd);

/* Add one that is not there. NULL when memory is short. */
struct directory *tree_add(
	struct tree *t, struct directory *parent, const char *name, size_t length);

/* Say what inotify calls it, and no other. TREE_UNWATCHED: nothing. Returns 0, or -ENOMEM and it has no such name. */
int tree_set_wd(struct tree *t, struct directory *d, int wd);

/* It has another parent and name now, which are free. Returns 0, or -ENOMEM: then it may not be found any more. */
int tree_move(struct tree *t, struct directory *d, struct directory *parent, const char *name,
	size_t length);

/* Forget it, and all below it; forget: is told the wd of each that has one. May not be the root. */
typedef void tree_forget_fn(void *user, int wd);
void tree_remove(struct tree *t, struct directory *d, tree_forget_fn *forget, void *user);

/* Whether one is below another, or the same. */
bool tree_is_below(const struct directory *d, const struct directory *above);

/* Put it into the line, unless it is in there; out of it. */
void tree_queue(struct tree *t, struct directory *d);
void tree_unqueue(struct tree *t, struct directory *d);

/*
 * The path of name ("": of d itself) below the root's: "/a/b". Returns its length, or 0 when it does not fit into size bytes;
 * the root's own is "", of length 0.
 */
size_t tree_path(const struct directory *d, const char *name, char *ret_path, size_t size);
