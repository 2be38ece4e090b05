/* The key of a name is the parent's id, so that renaming a directory leaves its children's keys valid. */
#include "shell/watch/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define ID_SIZE sizeof(uint64_t)

static char *make_key(const struct directory *parent, const char *name, size_t length)
{
	uint64_t id = parent ? parent->id : 0;
	char *key = malloc(ID_SIZE + length + 1);
	if (!key)
		return NULL;
	memcpy(key, &id, ID_SIZE);
	memcpy(key + ID_SIZE, name, length);
	key[ID_SIZE + length] = '\0';
	return key;
}

static int add_by_name(struct tree *t, struct directory *d)
{
	HASH_ADD_KEYPTR(by_name, t->names, d->key, ID_SIZE + d->name_length, d);
	return d->by_name.tbl ? 0 : -ENOMEM;
}

struct directory *tree_add(struct tree *t, struct directory *parent, const char *name, size_t length)
{
	struct directory *d = calloc(1, sizeof *d);
	char *key = d ? make_key(parent, name, length) : NULL;
	if (!key) {
		free(d);
		return NULL;
	}
	d->parent = parent;
	d->id = ++t->ids;
	d->key = key;
	d->name_length = length;
	d->wd = TREE_UNWATCHED;
	if (add_by_name(t, d) < 0) {
		free(key);
		free(d);
		return NULL;
	}
	if (parent)
		DL_APPEND(parent->children, d);
	t->count++;
	return d;
}

int tree_init(struct tree *t)
{
	*t = (struct tree){.root = NULL};
	t->root = tree_add(t, NULL, "", 0);
	return t->root ? 0 : -ENOMEM;
}

struct directory *tree_find(
	const struct tree *t, const struct directory *parent, const char *name, size_t length)
{
	char key[ID_SIZE + 256];
	struct directory *d;
	if (length > sizeof key - ID_SIZE)
		return NULL;
	memcpy(key, &parent->id, ID_SIZE);
	memcpy(key + ID_SIZE, name, length);
	HASH_FIND(by_name, t->names, key, ID_SIZE + length, d);
	return d;
}

struct directory *tree_find_wd(const struct tree *t, int wd)
{
	struct directory *d;
	HASH_FIND(by_wd, t->wds, &wd, sizeof wd, d);
	return d;
}

int tree_set_wd(struct tree *t, struct directory *d, int wd)
{
	if (d->wd != TREE_UNWATCHED)
		HASH_DELETE(by_wd, t->wds, d);
	d->wd = wd;
	if (wd == TREE_UNWATCHED)
		return 0;
	HASH_ADD(by_wd, t->wds, wd, sizeof d->wd, d);
	if (d->by_wd.tbl)
		return 0;
	d->wd = TREE_UNWATCHED;
	return -ENOMEM;
}

int tree_move(struct tree *t, struct directory *d, struct directory *parent, const char *name,
	size_t length)
{
	char *key = make_key(parent, name, length);
	if (!key)
		return -ENOMEM;
	HASH_DELETE(by_name, t->names, d);
	DL_DELETE(d->parent->children, d);
	free(d->key);
	d->key = key;
	d->name_length = length;
	d->parent = parent;
	DL_APPEND(parent->children, d);
	return add_by_name(t, d);
}

void tree_queue(struct tree *t, struct directory *d)
{
	if (!d->is_queued)
		DL_APPEND2(t->line, d, queue_prev, queue_next);
	d->is_queued = true;
}

void tree_unqueue(struct tree *t, struct directory *d)
{
	if (d->is_queued)
		DL_DELETE2(t->line, d, queue_prev, queue_next);
	d->is_queued = false;
}

/* Remove and free a directory without children. */
static void drop(struct tree *t, struct directory *d, tree_removed_fn *forget, void *user)
{
	if (d->wd != TREE_UNWATCHED && forget)
		forget(user, d->wd);
	(void)tree_set_wd(t, d, TREE_UNWATCHED);
	tree_unqueue(t, d);
	if (d->by_name.tbl)
		HASH_DELETE(by_name, t->names, d);
	if (d->parent)
		DL_DELETE(d->parent->children, d);
	free(d->key);
	free(d);
	t->count--;
}

/* Not by recursion: a tree may be deeper than the stack of a worker. */
void tree_remove(struct tree *t, struct directory *top, tree_removed_fn *forget, void *user)
{
	struct directory *d = top, *above;
	bool last;
	do {
		while (d->children)
			d = d->children;
		above = d->parent;
		last = d == top;
		drop(t, d, forget, user);
		d = above;
	} while (!last);
}

void tree_finish(struct tree *t)
{
	if (t->root)
		tree_remove(t, t->root, NULL, NULL);
	t->root = NULL;
}

bool tree_is_below(const struct directory *d, const struct directory *above)
{
	while (d && d != above)
		d = d->parent;
	return d != NULL;
}

size_t tree_path(const struct directory *d, const char *name, char *ret_path, size_t size)
{
	size_t length = *name ? strlen(name) + 1 : 0, at;
	for (const struct directory *each = d; each->parent; each = each->parent)
		length += each->name_length + 1;
	if (length >= size)
		return 0;
	at = length;
	ret_path[at] = '\0';
	if (*name) {
		at -= strlen(name);
		memcpy(ret_path + at, name, strlen(name));
		ret_path[--at] = '/';
	}
	for (; d->parent; d = d->parent) {
		at -= d->name_length;
		memcpy(ret_path + at, d->key + ID_SIZE, d->name_length);
		ret_path[--at] = '/';
	}
	return length;
}
