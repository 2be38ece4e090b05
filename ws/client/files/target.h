/* A file of ours that is written: beside what is there, which it replaces once it is whole. */
#pragma once

#include "ws/client/connect/cli.h"

#include <sys/stat.h>

#define TARGET_BESIDE "/.ringside-XXXXXX"

struct target {
	struct cli *cli;
	const char *name; /* as it was given; borrowed */
	int fd;
	bool whole_only; /* it has been begun beside; otherwise, as a device or a pipe, it is written as it is */
	bool exists;
	struct stat old;                              /* of what exists */
	char path[PATH_MAX];                          /* what is replaced, no link */
	char beside[PATH_MAX + sizeof TARGET_BESIDE]; /* what is written */
};

/*
 * Begin. parents: directories that are missing are made. Returns 0, or the status to end with, as all here; then standard
 * error says why, and nothing is left.
 */
int target_open(struct target *t, struct cli *cli, const char *name, bool parents);

int target_write(struct target *t, const void *bytes, size_t length);

/* It is whole: now it has its name, and the disk has it. */
int target_commit(struct target *t);

/* Give it up; what was there stays. */
void target_abort(struct target *t);

/* Write all to a file that may be a terminal or a pipe, and may not want to wait. Returns 0 or a negative errno. */
int target_put(int fd, const void *bytes, size_t length);
