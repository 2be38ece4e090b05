/*
 * All files are listed and sorted by mtime, which for sealed ones is the time of sealing. A server writes or
 * seals an open segment at least once in TAPE_SEGMENT_US; an older one was left by a dead server.
 */
#include "shell/recording/retention.h"

#include "shell/dir.h"
#include "shell/recording/tape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
	int64_t changed_s;
	uint64_t bytes;
	char tape[TAPE_NAME_SIZE], name[TAPE_FILE_SIZE];
	bool open;
};

struct listing {
	struct file *files;
	size_t count, capacity;
	uint64_t bytes;
	int error; /* the first */
};

static void note_error(struct listing *l, int error)
{
	if (l->error == 0)
		l->error = error;
}

static bool reserve(struct listing *l)
{
	if (l->count < l->capacity)
		return true;
	size_t capacity = l->capacity ? l->capacity * 2 : 64;
	if (capacity > RETENTION_FILES_MAX)
		return false;
	struct file *files = realloc(l->files, capacity * sizeof *files);
	if (!files)
		return false;
	l->files = files;
	l->capacity = capacity;
	return true;
}

static void list_tape(struct listing *l, int root_fd, const char *tape)
{
	DIR *dir = dir_open(root_fd, tape);
	if (!dir) {
		if (errno != ENOENT)
			note_error(l, -errno);
		return;
	}
	for (const struct dirent *entry; (entry = readdir(dir));) {
		struct stat st;
		uint64_t number;
		enum tape_file kind = tape_parse_file(entry->d_name, &number);
		if (kind == TAPE_NONE ||
			fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!reserve(l)) {
			note_error(l, -ENOMEM);
			break;
		}
		struct file *f = &l->files[l->count++];
		*f = (struct file){.changed_s = st.st_mtim.tv_sec,
			.bytes = (uint64_t)st.st_size,
			.open = kind != TAPE_SEALED};
		snprintf(f->tape, sizeof f->tape, "%s", tape);
		snprintf(f->name, sizeof f->name, "%s", entry->d_name);
		l->bytes += f->bytes;
	}
	closedir(dir);
}

static int compare(const void *a, const void *b)
{
	const struct file *x = a, *y = b;
	if (x->changed_s != y->changed_s)
		return x->changed_s < y->changed_s ? -1 : 1;
	int rc = strcmp(x->tape, y->tape);
	return rc ? rc : strcmp(x->name, y->name);
}

/* Remove a file, and its directory if that is empty then. */
static void remove_file(struct listing *l, int root_fd, const struct file *f)
{
	int fd = openat(root_fd, f->tape, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || (unlinkat(fd, f->name, 0) < 0 && errno != ENOENT))
		note_error(l, -errno);
	else
		l->bytes -= f->bytes;
	if (fd >= 0)
		close(fd);
	(void)unlinkat(root_fd, f->tape, AT_REMOVEDIR); /* fails if it is not empty */
}

static void remove_oldest(
	struct listing *l, int root_fd, const struct retention *limits, uint64_t now_s)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct file *f = &l->files[i];
		uint64_t age = (int64_t)now_s > f->changed_s ? now_s - (uint64_t)f->changed_s : 0;
		bool too_old = limits->age_s > 0 && age > limits->age_s,
		     too_much = limits->bytes > 0 && l->bytes > limits->bytes;
		if ((too_old || too_much) && (!f->open || age > RETENTION_ORPHAN_S))
			remove_file(l, root_fd, f);
	}
}

int retention_enforce(int root_fd, const struct retention *limits, uint64_t now_s)
{
	struct listing l = {0};
	char id[NAME_ID_MAX + 1];
	uint64_t epoch;
	DIR *root = dir_open(root_fd, ".");
	if (!root)
		return -errno;
	for (const struct dirent *entry; (entry = readdir(root));)
		if (tape_parse_name(entry->d_name, id, &epoch))
			list_tape(&l, root_fd, entry->d_name);
	closedir(root);
	if (l.count > 0)
		qsort(l.files, l.count, sizeof *l.files, compare);
	remove_oldest(&l, root_fd, limits, now_s);
	free(l.files);
	return l.error;
}
