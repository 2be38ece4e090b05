/*
 * Archives. Input: a tar archive. Unpacking must change nothing outside of the place, and create only allowed kinds of
 * files.
 */
#include "shell/files/unpack.h"
#include "tests/fuzz/fuzz_folder.h"

#include <ftw.h>
#include <sys/stat.h>

static int check(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)path;
	(void)kind;
	(void)at;
	FUZZ_CHECK(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode));
	FUZZ_CHECK((st->st_mode & 07000) == 0);
	return 0;
}

static int begin(void)
{
	int fd = fuzz_folder_make();
	FUZZ_CHECK(symlinkat("canary", fd, "link") == 0);
	int canary = openat(fd, "canary", O_WRONLY | O_CREAT | O_CLOEXEC, 0400);
	FUZZ_CHECK(canary >= 0 && write(canary, "safe", 4) == 4);
	close(canary);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct place p;
	struct stat before, after;
	struct unpack_result result;
	char root[64];
	if (fd < 0)
		fd = begin();
	FUZZ_CHECK(fstatat(fd, "canary", &before, 0) == 0);
	FUZZ_CHECK(mkdirat(fd, "place", 0700) == 0);
	snprintf(root, sizeof root, "%s/place", fuzz_folder);
	FUZZ_CHECK(place_of_directory(&p, root));
	p.beneath = true;
	FUZZ_CHECK(place_enter(&p) == 0);
	/* Existing entries may be links to the outside. */
	FUZZ_CHECK(symlinkat("..", p.cwd_fd, "up") == 0);
	unpack_bytes(&p, data, size, (uint64_t)1 << 30, &result);
	unpack_finish(&result);
	place_leave(&p);
	FUZZ_CHECK(nftw(root, check, 16, FTW_PHYS) == 0);
	FUZZ_CHECK(fstatat(fd, "canary", &after, 0) == 0);
	FUZZ_CHECK(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && after.st_size == 4 &&
		after.st_nlink == 1 && after.st_mode == before.st_mode);
	FUZZ_CHECK(copy_remove_tree(fd, "place") == 0);
	return 0;
}
