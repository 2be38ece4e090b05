/*
 * All of one kind that have a holder: by id, and those that are being ended, with what they share. Everything that one
 * needs on disk is in a directory of its own, RUNTIME/FOLDER/ID+SUFFIX/.
 */
#pragma once

#include "pty/reaper.h"
#include "shell/held/held.h"
#include "shell/store/directory.h"

#include <stdbool.h>
#include <uv.h>

struct bounds;
struct runtime_lock;

#define HELD_GROUP_SIZE (DIRECTORY_NAME_SIZE + 16u) /* of a control group's name, with its NUL */

/* What tells holders and servers from others; each may be NULL, and outlives the table. */
struct held_trust {
	const struct runtime_lock *lock; /* whose owner takes back what is taken from it; NULL: nobody */
	const char *runtime_dir;         /* that it is of */
};

struct held_table {
	const struct held_kind *kind;
	void *user;                  /* of its kind */
	uv_loop_t *loop;             /* not owned */
	const struct bounds *bounds; /* what all of them live in: nothing, unless set; not owned */
	int dir_fd;                  /* where the directories are */
	struct held_trust trust;     /* nothing, unless it is set once the table is open */
	struct held *listed;         /* uthash, by id, in the order in which they came */
	struct held *ending;         /* list */
	struct turns turns;          /* of those with more to consume */
	struct reaper reaper;        /* of holders */
	struct removals removals; /* of those in ending, and of holders that have died without a server */
	uv_timer_t sweep;
	uv_timer_t rescan; /* looks for holders that were still starting */
	unsigned rescans;
	char **refused; /* names of directories that were found and not adopted; owned */
	size_t refused_count;
	bool closing;
};

/*
 * Open the directory below runtime_fd (borrowed), which is made if need be. kind, user: borrowed for the table's life.
 * Returns 0 or a negative errno; then nothing is left open.
 */
int held_table_open(struct held_table *t, uv_loop_t *loop, const struct held_kind *kind, void *user,
	int runtime_fd);

/*
 * Let go of everything; holders live on. Who waits is told -ECANCELED. The memory is the caller's until the loop has
 * closed all handles.
 */
void held_table_close(struct held_table *t);

/*
 * Put it into its table: to be found by its id, which no other has, or with those that are being ended. Returns 0, or -ENOMEM
 * for one that is to be found.
 */
int held_add(struct held *h, enum held_place place);

/* Out of its table, and forgotten by all here but its link; who waits has not been told. */
void held_release(struct held *h);

/* The one with this id that is not being ended; NULL if there is none. */
struct held *held_find(const struct held_table *t, const char *id);

/* The one behind h among those that are not being ended; the first for NULL, NULL behind the last. */
struct held *held_next(const struct held_table *t, const struct held *h);

/* How many there are, without those that are being ended. */
unsigned held_count(const struct held_table *t);

/* Whether there are none, and none is being ended but those that cannot be ended now. */
bool held_table_is_idle(const struct held_table *t);

/* The name of the control group of what has this directory. */
void held_group(const struct held_table *t, const char *directory, char ret_name[HELD_GROUP_SIZE]);

/* Kill all who are in it. Harmless where there are no control groups. */
void held_kill_group(const struct held_table *t, const char *directory);

/*
 * Whether the runtime directory is what it was when it was locked: 0, or -ESTALE when it has been replaced or removed.
 * Nothing is started then: shells are told of files in it by their names.
 */
int held_check_place(const struct held_table *t);

/* What is in this directory has been refused: it is left alone, and not looked at again. */
void held_refuse(struct held_table *t, const char *directory);

/* Remove a directory and its control group with what is in it; what went wrong is said. */
void held_remove_directory(struct held_table *t, const char *directory);
