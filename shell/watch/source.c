/*
 * Opens, reads and watches directories; source_queue.c handles inotify's events. A directory is opened once, and both
 * watched and read through this descriptor, so that renames in between do not matter. While it is read, the kernel's queue
 * is not: what is found in it is reported before what happens in it.
 */
#include "shell/watch/source_internal.h"

#include "shell/clock.h"
#include "shell/dir.h"
#include "shell/files/temp_name.h"
#include "shell/isolation.h"
#include "shell/own_error.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES_MAX 256u    /* entries of directories, in a step */
#define DIRECTORIES_MAX 64u /* directories that are opened, in a step */

static struct watch_event *create_event(
	enum watch_type type, bool is_directory, const char *path, size_t length)
{
	struct watch_event *e = malloc(sizeof *e + length + 1);
	if (!e)
		return NULL;
	*e = (struct watch_event){.references = 1,
		.type = type,
		.is_directory = is_directory,
		.at_ms = clock_wall_ms(),
		.length = length};
	memcpy(e->path, path, length);
	e->path[length] = '\0';
	return e;
}

void watch_event_unref(struct watch_event *e)
{
	if (--e->references == 0)
		free(e);
}

void source_fail(struct source *s, int error)
{
	if (s->end == SOURCE_RUNNING) {
		s->end = SOURCE_FAILED;
		s->error = error;
	}
}

/* Events */

void source_add_event(
	struct source *s, enum watch_type type, bool is_directory, const char *path, size_t length)
{
	/* The limits of a step (READ_SIZE, ENTRIES_MAX) keep it below this. */
	if (s->events_count == SOURCE_EVENTS_MAX) {
		source_fail(s, -EOVERFLOW);
		return;
	}
	struct watch_event *e = create_event(type, is_directory, path, length);
	if (e)
		s->events[s->events_count++] = e;
	else
		source_fail(s, -ENOMEM);
}

/* The path for events of name in a directory. Returns its length, 0 if it is too long. */
static size_t event_path(const struct source *s, const struct directory *d, const char *name,
	char path[2 * PATH_MAX])
{
	size_t root = strlen(s->path);
	if (s->filter.name[0])
		return (size_t)snprintf(path, PATH_MAX, "%s", s->path);
	/* The root "/" already ends with a slash. */
	if (root == 1)
		root = 0;
	memcpy(path, s->path, root);
	size_t length = tree_path(d, name, path + root, PATH_MAX);
	path[root + length] = '\0';
	return length > 0 ? root + length : 0;
}

void source_report_loss(struct source *s)
{
	source_add_event(s, WATCH_RESYNC, false, "", 0);
}

void source_report_event(struct source *s, enum watch_type type, const struct directory *d,
	const char *name, bool is_directory)
{
	char path[2 * PATH_MAX];
	if (s->filter.name[0] && strcmp(name, s->filter.name) != 0)
		return;
	size_t length = event_path(s, d, name, path);
	if (length == 0)
		source_report_loss(s);
	else if (watch_filter_matches(&s->filter, type, path, length, strlen(s->path)))
		source_add_event(s, type, is_directory, path, length);
}

/* Directories */

static void remove_watch(void *user, int wd)
{
	const struct source *s = user;
	/* Fails if the directory is gone already. */
	(void)inotify_rm_watch(s->fd, wd);
}

static void stop_reading(struct source *s)
{
	if (s->dir)
		closedir(s->dir);
	s->dir = NULL;
	s->reading = NULL;
}

void source_forget_move(struct source *s, unsigned i)
{
	s->moves[i] = s->moves[--s->moves_count];
}

void source_remove_directory(struct source *s, struct directory *d)
{
	size_t before = s->tree.count;
	if (s->reading && tree_is_below(s->reading, d))
		stop_reading(s);
	for (unsigned i = s->moves_count; i-- > 0;)
		if (tree_is_below(s->moves[i].directory, d))
			source_forget_move(s, i);
	tree_remove(&s->tree, d, remove_watch, s);
	atomic_fetch_sub(s->total, (unsigned)(before - s->tree.count));
}

bool source_is_reported(struct source *s, const struct directory *parent, const char *name)
{
	char path[2 * PATH_MAX];
	size_t length = event_path(s, parent, name, path);
	return length > 0 && !watch_filter_prunes(&s->filter, path, length, strlen(s->path));
}

void source_add_directory(struct source *s, struct directory *parent, const char *name, bool fresh)
{
	size_t length = strlen(name);
	struct directory *d = tree_find(&s->tree, parent, name, length);
	if (!s->filter.recursive || !source_is_reported(s, parent, name))
		return;
	if (!d) {
		if (s->tree.count >= SOURCE_DIRECTORIES_MAX ||
			atomic_load(s->total) >= SOURCE_DIRECTORIES_TOTAL_MAX) {
			source_fail(s, -ERR_LIMIT);
			return;
		}
		d = tree_add(&s->tree, parent, name, length);
		if (!d) {
			source_fail(s, -ENOMEM);
			return;
		}
		atomic_fetch_add(s->total, 1);
		d->fresh = fresh;
		tree_queue(&s->tree, d);
	} else if (s->rereads) {
		tree_queue(&s->tree, d);
	}
	d->seen = s->sweep;
}

static uint32_t mask_of(const struct source *s)
{
	uint32_t mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |
		IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;
	if (s->filter.types & 1u << WATCH_MODIFY)
		mask |= IN_MODIFY;
	if (s->filter.types & 1u << WATCH_ATTRIB)
		mask |= IN_ATTRIB;
	return mask;
}

/* Watch an open directory. Returns 0 or a negative errno. */
static int watch_descriptor(struct source *s, struct directory *d, int fd)
{
	char link[32];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	int wd = inotify_add_watch(s->fd, link, mask_of(s));
	if (wd < 0)
		return -errno;
	struct directory *other = tree_find_wd(&s->tree, wd);
	if (other && other != d) {
		/* The same inode was known by another name: read that one again. */
		(void)tree_set_wd(&s->tree, other, TREE_UNWATCHED);
		other->fresh = true;
		if (++other->tries < TREE_TRIES_MAX)
			tree_queue(&s->tree, other);
		else
			s->unwatched++;
	}
	int rc = tree_set_wd(&s->tree, d, wd);
	if (rc < 0)
		inotify_rm_watch(s->fd, wd);
	return rc;
}

static bool is_gone(int error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -ELOOP || error == -ESTALE;
}

/* Open a directory below the root; links are not followed. Returns a descriptor or a negative errno. */
static int open_below(int root_fd, const char *path)
{
	const struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};
	long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof how);
	/* Linux before 5.6 does not have openat2(2), and some seccomp filters deny it. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(root_fd, path, (int)how.flags | O_NOFOLLOW);
	return fd < 0 ? -errno : (int)fd;
}

/* Open a real path; fails if a part of it is a link by now. Returns an O_PATH descriptor or a negative errno. */
static int open_real(const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open(path, (int)how.flags | O_NOFOLLOW);
	return fd < 0 ? -errno : (int)fd;
}

/* Watch a queued directory and start reading it. */
static void start_reading(struct source *s, struct directory *d)
{
	char path[PATH_MAX];
	tree_unqueue(&s->tree, d);
	if (d->parent && tree_path(d, "", path, sizeof path) == 0) {
		s->unwatched++;
		return;
	}
	int fd = open_below(s->root_fd, d->parent ? path + 1 : ".");
	int rc = fd < 0 ? fd : watch_descriptor(s, d, fd);
	if (rc == 0 && !(s->dir = fdopendir(fd)))
		rc = -errno;
	if (rc == 0) {
		s->reading = d;
		s->sweep++;
		return;
	}
	if (fd >= 0)
		close(fd);
	if (rc == -EACCES || rc == -EPERM)
		s->unwatched++;
	/* It was renamed or deleted: the kernel's queue has an event for that. */
	else if (!is_gone(rc))
		source_fail(s, rc);
	if (!d->parent && s->end == SOURCE_RUNNING)
		source_fail(s, rc);
}

static bool is_directory_entry(const struct source *s, const struct dirent *e)
{
	struct stat st;
	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dirfd(s->dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISDIR(st.st_mode);
}

/* A directory has been read. After an overflow, remove the known children that were not found. */
static void end_reading(struct source *s)
{
	struct directory *d = s->reading, *each, *next;
	d->fresh = false;
	closedir(s->dir);
	s->dir = NULL;
	s->reading = NULL;
	for (each = d->children; each; each = next) {
		next = each->next;
		if (s->rereads && each->seen != s->sweep)
			source_remove_directory(s, each);
	}
}

/* Read up to `most` entries of the current directory. Returns their number. */
static unsigned read_entries(struct source *s, unsigned most)
{
	unsigned count = 0;
	while (count < most && s->end == SOURCE_RUNNING) {
		errno = 0;
		const struct dirent *e = readdir(s->dir);
		if (!e) {
			if (errno != 0 && !is_gone(-errno))
				s->unwatched++;
			end_reading(s);
			return count;
		}
		if (dir_is_dot(e->d_name) || temp_name_matches(e->d_name))
			continue;
		bool directory = is_directory_entry(s, e);
		count++;
		if (s->reading->fresh)
			source_report_event(s, WATCH_CREATE, s->reading, e->d_name, directory);
		if (directory)
			source_add_directory(s, s->reading, e->d_name, s->reading->fresh);
	}
	return count;
}

/*
 * Open the root for this step: while it is open, the kernel does not report its deletion. Returns false if its
 * path does not lead to it any more.
 */
static bool open_root(struct source *s)
{
	struct stat st;
	s->root_fd = open_real(s->real);
	if (s->root_fd >= 0 && fstat(s->root_fd, &st) == 0 && st.st_dev == s->device &&
		st.st_ino == s->inode)
		return true;
	if (s->root_fd < 0 && !is_gone(s->root_fd))
		source_fail(s, s->root_fd);
	else if (s->tree.root->wd == TREE_UNWATCHED)
		source_fail(s, -ENOENT);
	else if (s->end == SOURCE_RUNNING)
		s->end = SOURCE_MOVED;
	return false;
}

static void close_root(struct source *s)
{
	if (s->root_fd >= 0)
		close(s->root_fd);
	s->root_fd = -1;
}

static void read_directories(struct source *s)
{
	unsigned entries = 0, directories = 0;
	if (s->end != SOURCE_RUNNING || (!s->dir && !s->tree.line) || !open_root(s)) {
		close_root(s);
		return;
	}
	while (s->end == SOURCE_RUNNING && entries < ENTRIES_MAX && directories < DIRECTORIES_MAX &&
		(s->dir || s->tree.line)) {
		if (s->dir) {
			entries += read_entries(s, ENTRIES_MAX - entries);
			continue;
		}
		start_reading(s, s->tree.line);
		directories++;
	}
	close_root(s);
}

/* Steps */

static bool is_idle(const struct source *s)
{
	return !s->dir && !s->tree.line;
}

void source_step(struct source *s)
{
	bool more = false;
	s->drained = false;
	if (!s->dir)
		more = source_read_queue(s);
	read_directories(s);
	source_end_moves(s);
	if (is_idle(s) && s->rereads && s->end == SOURCE_RUNNING) {
		/* Files made in unwatched directories are unknown: clients must read again. */
		s->rereads = false;
		source_report_loss(s);
	}
	s->ready |= is_idle(s) && s->end == SOURCE_RUNNING;
	s->more = s->end == SOURCE_RUNNING && (more || !is_idle(s));
}

int source_init(struct source *s, const struct watch_filter *filter, const char *path,
	const char *place, const char *within, atomic_uint *total)
{
	*s = (struct source){.filter = *filter, .total = total, .fd = -1, .root_fd = -1};
	s->path = strdup(path);
	s->place = strdup(place);
	s->within = strdup(within);
	if (s->path && s->place && s->within)
		return 0;
	source_finish(s);
	return -ENOMEM;
}

/* stat() a real path. Returns 0 or a negative errno. */
static int stat_real(const char *real, struct stat *ret_st)
{
	int fd = open_real(real), rc = fd;
	if (fd < 0)
		return rc;
	rc = fstat(fd, ret_st) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* Find the root's directory; for a file, watch its directory and filter by its name. */
static int find_root(struct source *s)
{
	struct stat st;
	if (!realpath(s->place, s->real))
		return -errno;
	if (strcmp(s->within, "/") != 0 && !isolation_is_below(s->real, s->within))
		return -EPERM;
	int rc = stat_real(s->real, &st);
	if (rc < 0)
		return rc;
	if (S_ISDIR(st.st_mode)) {
		s->device = st.st_dev;
		s->inode = st.st_ino;
		return 0;
	}
	char *slash = strrchr(s->real, '/');
	if (strlen(slash + 1) >= sizeof s->filter.name)
		return -ENAMETOOLONG;
	snprintf(s->filter.name, sizeof s->filter.name, "%s", slash + 1);
	s->filter.recursive = false;
	slash[slash == s->real] = '\0';
	rc = stat_real(s->real, &st);
	if (rc < 0)
		return rc;
	s->device = st.st_dev;
	s->inode = st.st_ino;
	return 0;
}

int source_open(struct source *s)
{
	int rc = find_root(s);
	if (rc < 0)
		return rc;
	rc = tree_init(&s->tree);
	if (rc < 0)
		return rc;
	atomic_fetch_add(s->total, 1);
	s->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (s->fd < 0)
		return -errno;
	tree_queue(&s->tree, s->tree.root);
	return 0;
}

void source_finish(struct source *s)
{
	stop_reading(s);
	if (s->tree.count > 0)
		atomic_fetch_sub(s->total, (unsigned)s->tree.count);
	tree_finish(&s->tree);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	for (unsigned i = 0; i < s->events_count; i++)
		watch_event_unref(s->events[i]);
	s->events_count = 0;
	free(s->path);
	free(s->place);
	free(s->within);
	s->path = s->place = s->within = NULL;
}
