/* A temporary directory below $TMPDIR, until folder_remove(). */
#pragma once

#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct folder {
	char path[256];
	int fd; /* O_DIRECTORY */
};

static inline void folder_make(struct folder *f)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(f->path, sizeof f->path, "%s/rs-unit-XXXXXX", tmp ? tmp : "/tmp");
	cr_assert_not_null(mkdtemp(f->path));
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(f->fd, 0);
}

static inline int folder_remove_one(
	const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void folder_remove(struct folder *f)
{
	close(f->fd);
	nftw(f->path, folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void folder_put(const struct folder *f, const char *name, const char *text)
{
	int fd = openat(f->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}
