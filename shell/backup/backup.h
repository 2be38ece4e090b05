/*
 * Backups: a directory as an archive (squashfs), and an archive as a directory, as runs (shell/run/run.h) beside every session.
 * What fails leaves what was there; what was killed is cleared up by the next one in that place.
 */
#pragma once

#include "shell/run/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKUP_TEXT_MAX ((size_t)16 << 10)        /* bytes of what is said that are kept */
#define BACKUP_BYTES_MAX (UINT64_C(256) << 30)    /* that an archive may hold to be restored */
#define BACKUP_ENTRIES_MAX 4000000u               /* of those */
#define BACKUP_MEMORY_MAX_KIB (UINT64_C(4) << 20) /* of address space for reading an archive */
#define BACKUP_TIMEOUT_MS (UINT64_C(3600) * 1000)
#define BACKUP_GRACE_MS 10000u /* for removing what is half done, when one is given up */
#define BACKUP_DIRECTORY \
	".ringside-backups" /* in the workspace, for archives that have no other place */

/* What may be saved and restored is in one of these, or in the workspace. Each list ends with NULL. */
extern const char *const backup_roots[];

/* Directories of many users, which are not replaced. */
extern const char *const backup_shared[];

/* What is asked for; all is borrowed for the call. Paths are absolute, and hold no control characters. */
struct backup_options {
	const char *dir;
	const char *archive; /* of create, NULL: one is chosen, in /var/backups/ringside or in keep */
	const char *keep; /* the directory of archives in the workspace: never part of one, and restoring leaves it */
	const char *workspace; /* dir is in it, or in one of backup_roots, also when links have been followed */
	const char *cwd;        /* where it is started */
	const char *format;     /* of create: gzip, lz4 or zstd */
	unsigned threads;       /* of create */
	bool mount;             /* of restore: mount it, where that can be done */
	bool gitignore;         /* of create: what git ignores is left out */
	const char *excluded;   /* of create: patterns, see excluded.h */
	size_t excluded_length; /* bytes */
};

/*
 * Start it. A creation prints the size of the archive and its path, a line each; a restoration "mounted" when that is what it has
 * done. Both return as run_start().
 */
int backup_create(struct runs *all, const struct backup_options *options,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run);
int backup_restore(struct runs *all, const struct backup_options *options,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run);
