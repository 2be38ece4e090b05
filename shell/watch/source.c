/*
 * A directory is opened once, and both watched and read through this descriptor, so that renames in between do
 * not matter. While it is read, the kernel's queue is not: what is found in it is reported before what happens
 * in it.
 *
 * inotify watches inodes: a directory that is renamed within the tree keeps its watch, and so do all below it.
 * The two events of a rename need not be adjacent. If the second one does not come, the directory has left the
 * tree.
 */
#include "shell/watch/source.h"

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

#define READ_SIZE 8192u  /* bytes of the kernel's queue, in a step */
#define LOOKED_MAX 256u  /* entries of directories, in a step */
#define MOVE_WAIT_MS 20u /* for the second half of a rename */
#define DIRECTORIES_STEP 64u

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

static void fail(struct source *s, int error)
{
	if (s->end == SOURCE_RUNNING) {
		s->end = SOURCE_FAILED;
		s->error = error;
	}
}

/* Events */

static void add_event(
	struct source *s, enum watch_type type, bool is_directory, const char *path, size_t length)
{
	/* READ_SIZE and LOOKED_MAX keep a step below this. */
	if (s->events_count == SOURCE_EVENTS_MAX) {
		fail(s, -EOVERFLOW);
		return;
	}
	struct watch_event *e = create_event(type, is_directory, path, length);
	if (e)
		s->events[s->events_count++] = e;
	else
		fail(s, -ENOMEM);
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

static void report_loss(struct source *s)
{
	add_event(s, WATCH_RESYNC, false, "", 0);
}

static void report_event(struct source *s, enum watch_type type, const struct directory *d,
	const char *name, bool is_directory)
{
	char path[2 * PATH_MAX];
	if (s->filter.name[0] && strcmp(name, s->filter.name) != 0)
		return;
	size_t length = event_path(s, d, name, path);
	if (length == 0)
		report_loss(s);
	else if (watch_filter_matches(&s->filter, type, path, length, strlen(s->path)))
		add_event(s, type, is_directory, path, length);
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
	s->looking = NULL;
}

static void forget_move(struct source *s, unsigned i)
{
	s->moves[i] = s->moves[--s->moves_count];
}

/* Remove a directory and all below it from the tree. */
static void remove_directory(struct source *s, struct directory *d)
{
	size_t before = s->tree.count;
	if (s->looking && tree_is_below(s->looking, d))
		stop_reading(s);
	for (unsigned i = s->moves_count; i-- > 0;)
		if (tree_is_below(s->moves[i].directory, d))
			forget_move(s, i);
	tree_remove(&s->tree, d, remove_watch, s);
	atomic_fetch_sub(s->total, (unsigned)(before - s->tree.count));
}

/* Whether events below parent/name may be reported. */
static bool is_reported(struct source *s, const struct directory *parent, const char *name)
{
	char path[2 * PATH_MAX];
	size_t length = event_path(s, parent, name, path);
	return length > 0 && !watch_filter_prunes(&s->filter, path, length, strlen(s->path));
}

/* A directory exists: add it and queue it for reading. fresh: report its content as created. */
static void add_directory(struct source *s, struct directory *parent, const char *name, bool fresh)
{
	size_t length = strlen(name);
	struct directory *d = tree_find(&s->tree, parent, name, length);
	if (!s->filter.recursive || !is_reported(s, parent, name))
		return;
	if (!d) {
		if (s->tree.count >= SOURCE_DIRECTORIES_MAX ||
			atomic_load(s->total) >= SOURCE_DIRECTORIES_TOTAL_MAX) {
			fail(s, -ERR_LIMIT);
			return;
		}
		d = tree_add(&s->tree, parent, name, length);
		if (!d) {
			fail(s, -ENOMEM);
			return;
		}
		atomic_fetch_add(s->total, 1);
		d->fresh = fresh;
		tree_queue(&s->tree, d);
	} else if (s->again) {
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
		s->looking = d;
		s->sweep++;
		return;
	}
	if (fd >= 0)
		close(fd);
	if (rc == -EACCES || rc == -EPERM)
		s->unwatched++;
	/* It was renamed or deleted: the kernel's queue has an event for that. */
	else if (!is_gone(rc))
		fail(s, rc);
	if (!d->parent && s->end == SOURCE_RUNNING)
		fail(s, rc);
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
	struct directory *d = s->looking, *each, *next;
	d->fresh = false;
	closedir(s->dir);
	s->dir = NULL;
	s->looking = NULL;
	for (each = d->children; each; each = next) {
		next = each->next;
		if (s->again && each->seen != s->sweep)
			remove_directory(s, each);
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
		if (s->looking->fresh)
			report_event(s, WATCH_CREATE, s->looking, e->d_name, directory);
		if (directory)
			add_directory(s, s->looking, e->d_name, s->looking->fresh);
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
		fail(s, s->root_fd);
	else if (s->tree.root->wd == TREE_UNWATCHED)
		fail(s, -ENOENT);
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
	while (s->end == SOURCE_RUNNING && entries < LOOKED_MAX && directories < DIRECTORIES_STEP &&
		(s->dir || s->tree.line)) {
		if (s->dir) {
			entries += read_entries(s, LOOKED_MAX - entries);
			continue;
		}
		start_reading(s, s->tree.line);
		directories++;
	}
	close_root(s);
}

/* The kernel's queue */

/* A directory was renamed: queue those below it that could not be opened by the old name. */
static void queue_unwatched(struct source *s, struct directory *top)
{
	struct directory *d = top;
	for (;;) {
		if (d->wd == TREE_UNWATCHED) {
			d->fresh = true;
			tree_queue(&s->tree, d);
		}
		if (d->children) {
			d = d->children;
			continue;
		}
		while (d != top && !d->next)
			d = d->parent;
		if (d == top)
			return;
		d = d->next;
	}
}

static void begin_move(struct source *s, struct directory *d, uint32_t cookie)
{
	if (s->moves_count == SOURCE_MOVES_MAX) {
		remove_directory(s, d); /* the second half adds it as a new one */
		return;
	}
	s->moves[s->moves_count++] = (struct source_move){
		.cookie = cookie, .since_ms = clock_monotonic_ms(), .directory = d};
}

/* Complete a rename. Returns false if its first half is not known. */
static bool end_move(struct source *s, struct directory *parent, const char *name, uint32_t cookie)
{
	unsigned i = 0;
	while (i < s->moves_count && s->moves[i].cookie != cookie)
		i++;
	if (i == s->moves_count)
		return false;
	struct directory *d = s->moves[i].directory;
	forget_move(s, i);
	if (tree_is_below(parent, d) || !s->filter.recursive || !is_reported(s, parent, name)) {
		remove_directory(s, d);
		return true;
	}
	int rc = tree_move(&s->tree, d, parent, name, strlen(name));
	if (rc < 0)
		fail(s, rc);
	else
		queue_unwatched(s, d);
	return true;
}

/* Remove the directories whose rename was not completed in time: they have left the tree. */
static void end_moves(struct source *s)
{
	uint64_t now = s->moves_count > 0 ? clock_monotonic_ms() : 0;
	for (unsigned i = s->drained ? s->moves_count : 0; i-- > 0;)
		if (i < s->moves_count && now - s->moves[i].since_ms >= MOVE_WAIT_MS)
			remove_directory(s, s->moves[i].directory);
	s->wait_ms = s->moves_count > 0 ? MOVE_WAIT_MS : 0;
}

static bool is_moving(const struct source *s, const struct directory *d)
{
	for (unsigned i = 0; i < s->moves_count; i++)
		if (s->moves[i].directory == d)
			return true;
	return false;
}

/* Update the tree by an event about a subdirectory. */
static void update_directory(
	struct source *s, struct directory *parent, const struct inotify_event *e)
{
	struct directory *d = tree_find(&s->tree, parent, e->name, strlen(e->name));
	if (e->mask & IN_MOVED_FROM) {
		if (d)
			begin_move(s, d, e->cookie);
		return;
	}
	if (!(e->mask & (IN_CREATE | IN_MOVED_TO | IN_DELETE)))
		return;
	/* A created directory that is already known was found by reading its parent, unless it is being renamed. */
	if (d && (!(e->mask & IN_CREATE) || is_moving(s, d))) {
		remove_directory(s, d);
		/* It replaced another, or was found by reading the parent: events may have been missed. */
		if (e->mask & IN_MOVED_TO)
			report_loss(s);
	}
	if ((e->mask & IN_MOVED_TO) && end_move(s, parent, e->name, e->cookie))
		return;
	if (!(e->mask & IN_DELETE))
		add_directory(s, parent, e->name, true);
}

static const struct {
	uint32_t bit;
	enum watch_type type;
} event_types[] = {
	{IN_CREATE, WATCH_CREATE},
	{IN_MODIFY, WATCH_MODIFY},
	{IN_DELETE, WATCH_DELETE},
	{IN_MOVED_FROM, WATCH_MOVE_FROM},
	{IN_MOVED_TO, WATCH_MOVE_TO},
	{IN_ATTRIB, WATCH_ATTRIB},
};

static void end_root(struct source *s, enum source_end end)
{
	if (end == SOURCE_DELETED && !s->filter.name[0] &&
		watch_filter_matches(
			&s->filter, WATCH_DELETE, s->path, strlen(s->path), strlen(s->path)))
		add_event(s, WATCH_DELETE, true, s->path, strlen(s->path));
	s->end = end;
}

/* inotify's queue has overflowed: read the whole tree again. */
static void handle_overflow(struct source *s)
{
	report_loss(s);
	s->again = true;
	tree_queue(&s->tree, s->tree.root);
}

static void handle_event(struct source *s, const struct inotify_event *e)
{
	if (e->mask & IN_Q_OVERFLOW) {
		handle_overflow(s);
		return;
	}
	struct directory *d = tree_find_wd(&s->tree, e->wd);
	if (!d)
		return;
	bool root = !d->parent;
	if (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) {
		if (root)
			end_root(s,
				e->mask & IN_DELETE_SELF       ? SOURCE_DELETED
					: e->mask & IN_UNMOUNT ? SOURCE_UNMOUNTED
							       : SOURCE_MOVED);
		return;
	}
	if (e->mask & IN_IGNORED) {
		(void)tree_set_wd(&s->tree, d, TREE_UNWATCHED);
		return;
	}
	if (e->len == 0)
		return;
	uint32_t mask = e->mask;
	if (temp_name_matches(e->name)) {
		if (mask & IN_MOVED_FROM)
			s->replacing = e->cookie;
		return;
	}
	if ((mask & IN_MOVED_TO) && !(mask & IN_ISDIR) && e->cookie == s->replacing)
		mask = IN_MODIFY; /* a temporary file has replaced this one */
	for (size_t i = 0; i < sizeof event_types / sizeof *event_types; i++)
		if (mask & event_types[i].bit)
			report_event(s, event_types[i].type, d, e->name, (e->mask & IN_ISDIR) != 0);
	if (e->mask & IN_ISDIR)
		update_directory(s, d, e);
}

/* Read events. Returns whether there may be more. */
static bool read_queue(struct source *s)
{
	_Alignas(struct inotify_event) char buffer[READ_SIZE];
	ssize_t n = read(s->fd, buffer, sizeof buffer);
	s->drained = n < 0 && errno == EAGAIN;
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			fail(s, -errno);
		return errno == EINTR;
	}
	for (ssize_t at = 0; at < n && s->end == SOURCE_RUNNING;) {
		const struct inotify_event *e = (const void *)(buffer + at);
		handle_event(s, e);
		at += (ssize_t)(sizeof *e + e->len);
	}
	return n > 0;
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
		more = read_queue(s);
	read_directories(s);
	end_moves(s);
	if (is_idle(s) && s->again && s->end == SOURCE_RUNNING) {
		/* Files made in unwatched directories are unknown: clients must read again. */
		s->again = false;
		report_loss(s);
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
