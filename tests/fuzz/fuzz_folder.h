/* A directory of a target's own, until it exits. */
#pragma once

#include "shell/files/copy.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <unistd.h>

static char fuzz_folder[] = "/tmp/fuzz-XXXXXX"; /* its path */

static inline void fuzz_folder_remove(void)
{
	int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	copy_remove_tree(fd, fuzz_folder + sizeof "/tmp/" - 1);
	close(fd);
}

/* Make it, once for each process. Returns its descriptor. */
static inline int fuzz_folder_make(void)
{
	FUZZ_CHECK(mkdtemp(fuzz_folder));
	atexit(fuzz_folder_remove);
	int fd = open(fuzz_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_CHECK(fd >= 0);
	return fd;
}
