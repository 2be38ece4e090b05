/*
 * The table of held objects of one kind: by id, and those being ended, with what they share. The files of each are in a
 * directory of its own, RUNTIME/FOLDER/ID+SUFFIX/.
 */
#pragma once

#include "pty/reaper.h"
#include "shell/held/held.h"
#include "shell/store/directory.h"

#include <stdbool.h>
#include <uv.h>

struct bounds;
struct runtime_lock;

#define HELD_GROUP_SIZE (DIRECTORY_NAME_SIZE + 16u) /* name of a control group, with its NUL */

/* How to distinguish the server's holders from other processes; each may be NULL, and outlives the table. */
struct held_trust {
	/* The owner of this lock takes back holders; NULL: no takeback. */
	const struct runtime_lock *lock;
	const char *runtime_dir; /* the directory of the lock */
};

/* Learns which objects are listed; its callbacks must not change the table. */
struct held_observer {
	void (*added)(void *user, const char *id);
	void (*removed)(void *user, const char *id);
	void *user;
};

/* One table. */
struct held_table {
	const struct held_kind *kind;
	void *user;                  /* of its kind */
	uv_loop_t *loop;             /* not owned */
	const struct bounds *bounds; /* of all objects; bounds_none unless set; not owned */
	int dir_fd;                  /* where the directories are */
	struct held_trust trust;     /* empty, unless set after held_table_open() */
	struct held *listed;         /* uthash, by id, in order of creation */
	struct held *ending;         /* list */
	struct turns turns;          /* of objects with more to consume */
	struct reaper reaper;        /* of holders */
	struct removals removals;    /* of objects in `ending`, and after a holder's death */
	uv_timer_t sweep;
	uv_timer_t rescan; /* checks holders that were still starting */
	unsigned rescans;
	char **refused; /* names of directories that were found and not adopted; owned */
	size_t refused_count;
	bool closing;
	const struct held_observer *observer; /* NULL: none; not owned */
};

/*
 * Open a table; its folder below runtime_fd (borrowed) is created if needed. kind, user: borrowed for the table's life.
 * Returns 0, or a negative errno with nothing left open.
 */
int held_table_open(struct held_table *t, uv_loop_t *loop, const struct held_kind *kind, void *user,
	int runtime_fd);

/* Release all objects; holders live on. Waiters get -ECANCELED. The loop must close the handles before t is freed. */
void held_table_close(struct held_table *t);

/* List an object by its unique id, or put it into `ending`. Returns 0, or -ENOMEM if it is to be listed. */
int held_add(struct held *h, enum held_place place);

/* Remove an object from its table, its turns and removals. Does not answer its waiters or close its link. */
void held_release(struct held *h);

/* The listed object with this id, or NULL. */
struct held *held_find(const struct held_table *t, const char *id);

/* The next listed object after h; the first for NULL; NULL after the last. */
struct held *held_next(const struct held_table *t, const struct held *h);

/* The number of listed objects. */
unsigned held_count(const struct held_table *t);

/* Observe the table, which is empty. observer: borrowed for the table's life. */
void held_observe(struct held_table *t, const struct held_observer *observer);

/* An object that was listed is not any more. Internal. */
void held_report_removed(const struct held *h);

/* Whether no object is listed, and none is being ended except stuck ones. */
bool held_table_is_idle(const struct held_table *t);

/* The name of the control group for this directory. */
void held_group(const struct held_table *t, const char *directory, char ret_name[HELD_GROUP_SIZE]);

/* Kill all processes in it. Does nothing without control groups. */
void held_kill_group(const struct held_table *t, const char *directory);

/*
 * Check that the runtime directory is still the locked one: 0, or -ERR_RUNTIME_REPLACED if it was replaced or removed.
 * Nothing is started then, as shells open files in it by path.
 */
int held_check_runtime_directory(const struct held_table *t);

/* Do not adopt this directory: leave it alone and do not report it again. */
void held_refuse_directory(struct held_table *t, const char *directory);

/* Remove a directory with its files, and its control group. Errors are reported. */
void held_remove_directory(struct held_table *t, const char *directory);
