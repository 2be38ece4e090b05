/*
 * What the kernel tells of one tree: an inotify of its own, and the directories that it watches. New directories are
 * watched as they appear, and what had been made in them before that is told as made. What inotify has lost, because nobody
 * read in time, is told (WATCH_RESYNC), and then everything is looked through for directories that are not watched.
 *
 * It is worked at in steps, each by one thread, on a worker: a step may wait for the disk. Nothing here knows the loop.
 */
#pragma once

#include "shell/watch/filter.h"
#include "shell/watch/tree.h"

#include <dirent.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SOURCE_DIRECTORIES_MAX 131072u       /* of one tree */
#define SOURCE_DIRECTORIES_TOTAL_MAX 262144u /* of all */
#define SOURCE_EVENTS_MAX 640u               /* of a step */
#define SOURCE_MOVES_MAX 16u                 /* that are half told */

/* Something that happened; immutable, shared. */
struct watch_event {
	unsigned references;
	enum watch_type type;
	bool is_directory;
	uint64_t at_ms; /* wall clock */
	size_t length;  /* of path; 0: WATCH_RESYNC */
	char path[];    /* absolute; any bytes */
};

/* NULL when memory is short. */
struct watch_event *watch_event_create(
	enum watch_type type, bool is_directory, const char *path, size_t length);
void watch_event_unref(struct watch_event *e);

/* A directory that has been renamed, of which is not known to what. */
struct source_move {
	uint32_t cookie;
	uint64_t since_ms;
	struct directory *directory;
};

enum source_end { SOURCE_GOES_ON, SOURCE_DELETED, SOURCE_MOVED, SOURCE_UNMOUNTED, SOURCE_FAILED };

struct source {
	struct watch_filter filter;
	char *path;          /* of the root, as it is told; owned */
	char *place;         /* where it is; owned */
	char *within;        /* where it has to be, by its real name; owned */
	atomic_uint *total;  /* directories of all; borrowed */
	char real[PATH_MAX]; /* name of the root's directory; of what is not within, too */
	int fd;              /* of inotify; -1: not open */
	int root_fd;         /* the root's directory, while there is to be looked; or -1 */
	dev_t device;        /* of that */
	ino_t inode;
	struct tree tree;
	uint64_t sweep;            /* counts the looks at directories */
	struct directory *looking; /* at this one, by: */
	DIR *dir;
	struct source_move moves[SOURCE_MOVES_MAX];
	unsigned moves_count;
	uint32_t replacing; /* cookie of the last rename of a file that we have made beside another */
	bool drained;       /* there was nothing in the kernel's queue any more */
	bool again;         /* everything is being looked through again */
	/* What has come of it: */
	struct watch_event *events[SOURCE_EVENTS_MAX]; /* to be taken */
	unsigned events_count;
	bool ready;         /* the tree is watched as it was found */
	bool more;          /* there is more to be done at once */
	unsigned wait_ms;   /* otherwise: after so long; 0: when fd can be read */
	unsigned unwatched; /* directories that cannot be */
	enum source_end end;
	int error; /* SOURCE_FAILED: a negative errno; -ENOSPC: the kernel watches no more, -EUSERS: we do not */
};

/*
 * Prepare; takes no system's resources. path: how the root is called in events; place: where it is; within: the real name of
 * a directory. All are absolute, and copied. total: borrowed. Returns 0 or -ENOMEM.
 */
int source_init(struct source *s, const struct watch_filter *filter, const char *path,
	const char *place, const char *within, atomic_uint *total);

/*
 * Find the root, and begin. Returns 0, -EPERM (it is not within; `real` says where), -ENOENT and the like, -EMFILE (no
 * inotify) …
 */
int source_open(struct source *s);

/* Do some of what there is to be done. The events of the last step have been taken. */
void source_step(struct source *s);

/* Free what init and open have taken. */
void source_finish(struct source *s);
