/*
 * Buckets as directories: s3fs, and what is around it, as runs (shell/run/run.h) beside every session. A mount goes on without the
 * run, the server and its sessions, until it is taken away.
 */
#pragma once

#include "shell/run/run.h"

#include <stdbool.h>
#include <stdint.h>

#define MOUNT_TEXT_MAX ((size_t)16 << 10)       /* bytes of what is said that are kept */
#define MOUNT_TIMEOUT_MS (UINT64_C(120) * 1000) /* s3fs asks the store first */
#define MOUNT_GRACE_MS 2000u

/* What is asked for; all is borrowed for the call. Nothing of it has control characters, but for the ends of lines in options. */
struct mount_options {
	const char *action; /* mount, check (status 0: something is mounted), unmount, remove (its directory) or protect (a file) */
	const char *path;   /* absolute */
	bool only;          /* unmount what is mounted only; remove where nothing is mounted only */
	/* Of mount: */
	const char *source;  /* the bucket, as s3fs takes it */
	const char *options; /* a line each, as s3fs takes them */
	const char *log;     /* the file that its program writes to; NULL: none is kept */
	bool verify;         /* wait until it is there */
	const char *cwd;     /* where it is started */
};

/*
 * Start it. A mount that is verified ends with 0, 2 (s3fs has failed) or 3 (nothing has appeared), and prints the end of its log then.
 * Returns as run_start().
 */
int mount_start(struct runs *all, const struct mount_options *options,
	const struct run_callbacks *callbacks, void *user, struct run **ret_run);
