/*
 * The source of one tree's events: an inotify instance and the watched directories. New directories are watched
 * as they appear; what was made in them before that is reported as created. If inotify's queue overflows,
 * WATCH_RESYNC is reported, and the whole tree is read again to find unwatched directories.
 *
 * The work is done in steps, on a thread, one at a time; a step may block on the disk. No libuv here.
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
#define SOURCE_DIRECTORIES_TOTAL_MAX 262144u /* of all trees */
#define SOURCE_EVENTS_MAX 640u               /* of a step */
#define SOURCE_MOVES_MAX 16u                 /* renames whose second half is awaited */

/* An event; immutable, reference-counted. */
struct watch_event {
	unsigned references;
	enum watch_type type;
	bool is_directory;
	uint64_t at_ms; /* wall clock */
	size_t length;  /* of path; 0: WATCH_RESYNC */
	char path[];    /* absolute; any bytes */
};

/* Drop a reference; the last one frees the event. */
void watch_event_unref(struct watch_event *e);

/* A directory that was renamed, until its new name is known. */
struct source_move {
	uint32_t cookie;
	uint64_t since_ms;
	struct directory *directory;
};

/* Why a source ended; SOURCE_RUNNING: it has not. */
enum source_end { SOURCE_RUNNING, SOURCE_DELETED, SOURCE_MOVED, SOURCE_UNMOUNTED, SOURCE_FAILED };

/* A source. */
struct source {
	struct watch_filter filter;
	char *path;          /* of the root, in events; owned */
	char *place;         /* of the root, in the server's file system; owned */
	char *within;        /* real path of a directory that must contain the root; owned */
	atomic_uint *total;  /* directories of all trees; borrowed */
	char real[PATH_MAX]; /* real path of the root's directory, also if it is not within */
	int fd;              /* of inotify; -1: not open */
	int root_fd;         /* the root's directory, while a step reads directories; or -1 */
	dev_t device;        /* of the root */
	ino_t inode;
	struct tree tree;
	uint64_t sweep;            /* counts reads of directories */
	struct directory *reading; /* the directory that is being read, through dir */
	DIR *dir;
	struct source_move moves[SOURCE_MOVES_MAX];
	unsigned moves_count;
	uint32_t replacing; /* cookie of the last rename of a temp_name_make() */
	bool drained;       /* the kernel's queue was empty */
	bool rereads;       /* the whole tree is being read again */
	/* Results of a step: */
	struct watch_event *events[SOURCE_EVENTS_MAX]; /* the caller removes them */
	unsigned events_count;
	bool ready;         /* the whole tree is watched */
	bool more;          /* the next step is due now */
	unsigned wait_ms;   /* otherwise: it is due after this; 0: when fd is readable */
	unsigned unwatched; /* directories that cannot be watched */
	enum source_end end;
	int error; /* SOURCE_FAILED: a negative errno; -ENOSPC: inotify's limit, -ERR_LIMIT: ours */
};

/* Set up without opening anything. path, place, within: see struct source; absolute, copied. Returns 0 or -ENOMEM. */
int source_init(struct source *s, const struct watch_filter *filter, const char *path,
	const char *place, const char *within, atomic_uint *total);

/*
 * Find the root and open inotify. Returns 0, -EPERM (it is not within; `real` is where it is), -EMFILE (too
 * many inotify instances), -ENOENT or another negative errno.
 */
int source_open(struct source *s);

/* Do a step. The caller has removed the events of the last one. */
void source_step(struct source *s);

/* Close and free everything; also after source_open() failed. */
void source_finish(struct source *s);
