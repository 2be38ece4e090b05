/*
 * Backups: create a squashfs archive of a directory, or restore one, as a run (shell/run/run.h) outside of
 * sessions. If it fails, the old content remains. The next backup in the same place removes the leftovers of a
 * killed one.
 */
#pragma once

#include "shell/run/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKUP_TEXT_MAX ((size_t)16 << 10)        /* bytes of output that are kept */
#define BACKUP_BYTES_MAX (UINT64_C(256) << 30)    /* content of an archive to restore */
#define BACKUP_ENTRIES_MAX 4000000u               /* entries of an archive to restore */
#define BACKUP_MEMORY_MAX_KIB (UINT64_C(4) << 20) /* of address space for reading an archive */
#define BACKUP_TIMEOUT_MS (UINT64_C(3600) * 1000)
#define BACKUP_GRACE_MS 10000u /* time to clean up after a cancellation */

/* Directory in the workspace for archives, if /var/backups is not usable. */
#define BACKUP_DIRECTORY ".ringside-backups"

/* Directories below which backups are allowed, besides the workspace. Ends with NULL. */
extern const char *const backup_roots[];

/* Shared directories, which are not replaced themselves. Ends with NULL. */
extern const char *const backup_shared_directories[];

/* Parameters, borrowed for the call. Paths are absolute and contain no control characters. */
struct backup_options {
	const char *dir;
	const char *archive; /* create, NULL: choose a path in /var/backups/ringside or in keep */
	const char *keep; /* archive directory in the workspace: excluded, and not replaced by a restoration */
	const char *workspace; /* dir must be in it or in one of backup_roots, after following links */
	const char *cwd;       /* of the script */
	const char *format;    /* create: gzip, lz4 or zstd */
	unsigned threads;      /* create */
	bool mount;            /* restore: mount the archive if possible */
	bool gitignore;        /* create: exclude what git ignores */
	const char *excluded;   /* create: patterns, as exclude_pattern_write() writes them */
	size_t excluded_length; /* bytes */
};

/* Start a creation. It prints the size of the archive and its path, one per line. Returns as run_start(). */
int backup_create(struct runs *all, const struct backup_options *options,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run);
/* Start a restoration. It prints "mounted" if it has mounted the archive. Returns as run_start(). */
int backup_restore(struct runs *all, const struct backup_options *options,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run);
