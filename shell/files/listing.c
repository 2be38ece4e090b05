/* Walks by descriptors, so that a directory that is moved meanwhile is not mistaken for another. */
#include "shell/files/listing.h"

#include "shell/dir.h"
#include "shell/files/temp_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct walk {
	const struct listing_options *options;
	bool (*entry)(void *user, const struct listing_entry *e);
	void *user;
	struct listing_result *result;
	size_t count;
	bool over; /* stop: the callback said so, or LISTING_MAX */
	char relative[2 * PLACE_PATH_MAX];
};

static void list_directory(struct walk *w, int dir_fd, size_t length, unsigned depth);

static void list_subdirectory(
	struct walk *w, int parent_fd, const char *name, size_t length, unsigned depth)
{
	int fd = depth + 1 < LISTING_DEPTH_MAX && length + 1 < PLACE_PATH_MAX
		? place_open_in(parent_fd, name, O_RDONLY | O_DIRECTORY)
		: -1;
	if (fd < 0) {
		w->result->cut = true;
		return;
	}
	w->relative[length] = '/';
	list_directory(w, fd, length + 1, depth + 1);
}

/* Report one entry; its name is written to relative + length. */
static void report(struct walk *w, int dir_fd, const char *name, size_t length, unsigned depth)
{
	struct stat st;
	bool hidden = name[0] == '.';
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0) {
		w->result->cut |= errno != ENOENT; /* ENOENT: removed meanwhile */
		return;
	}
	size_t end = length + strlen(name);
	memcpy(w->relative + length, name, end - length + 1);
	if (!hidden || w->options->hidden) {
		const struct listing_entry e = {.name = name, .relative = w->relative, .st = &st};
		if (w->count == LISTING_MAX) {
			w->result->cut = w->over = true;
			return;
		}
		w->count++;
		w->over = !w->entry(w->user, &e);
	}
	if (!w->over && w->options->recursive && S_ISDIR(st.st_mode))
		list_subdirectory(w, dir_fd, name, end, depth);
}

/* Owns dir_fd. */
static void list_directory(struct walk *w, int dir_fd, size_t length, unsigned depth)
{
	DIR *dir = fdopendir(dir_fd);
	if (!dir) {
		close(dir_fd);
		w->result->cut = true;
		return;
	}
	const struct dirent *e;
	errno = 0;
	for (; !w->over && (e = readdir(dir)) != NULL; errno = 0)
		if (!dir_is_dot(e->d_name) && !temp_name_matches(e->d_name))
			report(w, dir_fd, e->d_name, length, depth);
	w->result->cut |= !w->over && errno != 0;
	closedir(dir);
}

/* The absolute path of the directory: as the caller gave it, or from /proc if that was relative. */
static int name_directory(const char *path, int fd, struct listing_result *result)
{
	char link[32];
	if (path[0] == '/') {
		snprintf(result->directory, sizeof result->directory, "%s", path);
		return 0;
	}
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, result->directory, sizeof result->directory - 1);
	if (n < 0)
		return -errno;
	result->directory[n] = '\0';
	return 0;
}

int listing_walk(const struct place *p, const char *path, const struct listing_options *options,
	bool (*entry)(void *user, const struct listing_entry *e), void *user,
	struct listing_result *ret)
{
	struct walk w = {.options = options, .entry = entry, .user = user, .result = ret};
	*ret = (struct listing_result){.cut = false};
	int fd = place_open(p, path, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	int rc = name_directory(path, fd, ret);
	if (rc < 0)
		close(fd);
	else
		list_directory(&w, fd, 0, 0);
	return rc;
}
