/* Writes a local file: to a temporary file, which replaces the old one once it is complete. */
#pragma once

#include "ws/client/connect/cli.h"

#include <sys/stat.h>

#define TARGET_BESIDE "/.ringside-XXXXXX"

/* A file that is being written. */
struct target {
	struct cli *cli;
	const char *name; /* as it was given; borrowed */
	int fd;
	bool is_replacement; /* written to a temporary file; false: in place, as devices and pipes */
	bool exists;
	struct stat old;                              /* of the existing file */
	char path[PATH_MAX];                          /* the file to replace, links resolved */
	char beside[PATH_MAX + sizeof TARGET_BESIDE]; /* the temporary file */
};

/*
 * Open a file for writing. name: borrowed. parents: make missing directories. Returns 0 or the exit
 * status; errors are reported, and nothing is left then.
 */
int target_open(struct target *t, struct cli *cli, const char *name, bool parents);

/* Write bytes. Returns 0 or the exit status; errors are reported. */
int target_write(struct target *t, const void *bytes, size_t length);

/* The file is complete: sync and rename it. Returns 0 or the exit status; errors are reported. */
int target_commit(struct target *t);

/* Remove the temporary file, unless committed; the old file stays. */
void target_abort(struct target *t);
