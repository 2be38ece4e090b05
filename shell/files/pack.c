/*
 * The state is a stack of open directories, and a file that is partly written. Each turn adds one entry or one
 * part of a file to the piece. A file that is too short is filled up with zeros here, part by part: libarchive
 * would write them all at once.
 */
#include "shell/files/pack.h"

#include "shell/dir.h"
#include "shell/files/copy.h"
#include "shell/files/temp_name.h"
#include "shell/own_error.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#define PART ((size_t)64 << 10)     /* bytes of a file that are read at once */
#define HOLE_PART ((size_t)1 << 20) /* bytes of a hole that are skipped at once */
#define TURNS_MAX 1024u             /* in one call, so that a cancelled request is noticed */

/* A file with several names: its first one. */
struct linked {
	UT_hash_handle hh;
	struct {
		uint64_t device, inode;
	} id;
	char name[];
};

/* A directory that is being read. */
struct pack_level {
	DIR *dir;
	size_t length; /* of its name */
};

struct extent {
	off_t from, to;
};

struct pack {
	struct pack_options options;
	struct archive *archive;
	struct archive_entry *entry;
	locale_t locale; /* UTF-8; names may still be any bytes */
	struct linked *linked;
	struct pack_losses losses;
	struct pack_level levels[COPY_DEPTH_MAX];
	unsigned depth;                     /* of levels; 0: all has been read */
	bool closing;                       /* discard libarchive's output */
	bool begun;                         /* the first entry is written */
	bool over;                          /* the last bytes are written */
	bool cut;                           /* out of memory */
	int fd;                             /* of the file that is being read, or -1 */
	off_t at, size;                     /* of that */
	bool lost;                          /* reading failed: the rest is zeros */
	struct extent data[PACK_HOLES_MAX]; /* of a file with holes */
	unsigned data_count, data_at;       /* count 0: no holes; at: the current or next extent */
	char *bytes;                        /* the piece */
	size_t length, capacity;
	char name[PLACE_PATH_MAX]; /* of the current directory or its entry, without "./" */
	char part[PART];
};

static const char zeros[HOLE_PART];

static void note_loss(struct pack *k, const char *name, int error)
{
	if (k->losses.count++ > 0)
		return;
	k->losses.error = error;
	snprintf(k->losses.name, sizeof k->losses.name, "%s", name);
}

static la_ssize_t on_archive_write(struct archive *a, void *user, const void *bytes, size_t length)
{
	struct pack *k = user;
	(void)a;
	if (k->closing)
		return -1;
	if (length > k->capacity - k->length) {
		size_t capacity = k->length + length + PACK_PIECE;
		char *more = realloc(k->bytes, capacity);
		if (!more) {
			k->cut = true;
			return -1;
		}
		k->bytes = more;
		k->capacity = capacity;
	}
	memcpy(k->bytes + k->length, bytes, length);
	k->length += length;
	return (la_ssize_t)length;
}

/* Files with more than one name */

/* The name that a file is in the archive by, or NULL. */
static const char *find_first_name(const struct pack *k, const struct stat *st)
{
	struct linked *found, one = {.id = {.device = st->st_dev, .inode = st->st_ino}};
	/* NOLINTNEXTLINE(clang-analyzer-*): it is uthash's */
	HASH_FIND(hh, k->linked, &one.id, sizeof one.id, found);
	return found ? found->name : NULL;
}

/* Remember the name of a file with several. If that fails, the file is stored once more. */
static void add_first_name(struct pack *k, const struct stat *st, const char *name)
{
	size_t size = strlen(name) + 1;
	if (st->st_nlink < 2 || HASH_COUNT(k->linked) >= PACK_LINKS_MAX)
		return;
	struct linked *one = calloc(1, sizeof *one + size);
	if (!one)
		return;
	one->id.device = st->st_dev;
	one->id.inode = st->st_ino;
	memcpy(one->name, name, size);
	HASH_ADD(hh, k->linked, id, sizeof one->id, one);
	if (!one->hh.tbl)
		free(one);
}

/* Entries */

static int write_header(struct pack *k)
{
	int status = archive_write_header(k->archive, k->entry);
	if (k->cut)
		return -ENOMEM;
	/* ARCHIVE_WARN: part of the header could not be represented; it is written all the same. */
	return status == ARCHIVE_OK || status == ARCHIVE_WARN ? 0 : -EINVAL;
}

/* The archive's name for a name in the tree. */
static const char *archive_name(const char *name, bool directory, char text[PLACE_PATH_MAX + 4])
{
	snprintf(text, PLACE_PATH_MAX + 4, "./%s%s", name, directory && *name ? "/" : "");
	return text;
}

static void describe(struct pack *k, const struct stat *st)
{
	char text[PLACE_PATH_MAX + 4];
	struct archive_entry *e = archive_entry_clear(k->entry);
	archive_entry_copy_pathname(e, archive_name(k->name, S_ISDIR(st->st_mode), text));
	archive_entry_set_mode(e, st->st_mode);
	archive_entry_set_uid(e, st->st_uid);
	archive_entry_set_gid(e, st->st_gid);
	archive_entry_set_mtime(e, st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
	archive_entry_set_size(e, S_ISREG(st->st_mode) ? st->st_size : 0);
}

/* Find the data extents of a file. A file without holes, or with too many, is read as a whole. */
static void find_holes(struct pack *k, const struct stat *st)
{
	off_t at = 0;
	k->data_count = k->data_at = 0;
	if (st->st_blocks * 512 >= st->st_size)
		return;
	while (at < st->st_size) {
		off_t from = lseek(k->fd, at, SEEK_DATA);
		off_t to = from < 0 ? from : lseek(k->fd, from, SEEK_HOLE);
		if (from < 0 && errno == ENXIO)
			break; /* a hole up to the end */
		if (to <= from || k->data_count == PACK_HOLES_MAX) {
			k->data_count = 0;
			return;
		}
		at = to < st->st_size ? to : st->st_size;
		k->data[k->data_count++] = (struct extent){.from = from, .to = at};
	}
	if (k->data_count == 0)
		k->data[k->data_count++] = (struct extent){0}; /* only a hole */
	for (unsigned i = 0; i < k->data_count; i++)
		archive_entry_sparse_add_entry(
			k->entry, k->data[i].from, k->data[i].to - k->data[i].from);
}

static int put_file(struct pack *k, int dir_fd, const char *name, const struct stat *st)
{
	struct stat now;
	char text[PLACE_PATH_MAX + 4];
	const char *first = st->st_nlink > 1 ? find_first_name(k, st) : NULL;
	describe(k, st);
	if (first) {
		archive_entry_set_hardlink(k->entry, archive_name(first, false, text));
		archive_entry_set_size(k->entry, 0);
		return write_header(k);
	}
	int fd = place_open_in(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &now) < 0 || !S_ISREG(now.st_mode)) {
		int rc = fd < 0 ? fd : -ERR_CHANGED;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	describe(k, &now);
	k->fd = fd;
	k->at = 0;
	k->size = now.st_size;
	k->lost = false;
	find_holes(k, &now);
	int rc = write_header(k);
	if (rc < 0) {
		close(k->fd);
		k->fd = -1;
	} else {
		add_first_name(k, &now, k->name);
	}
	return rc;
}

static int put_link(struct pack *k, int dir_fd, const char *name, const struct stat *st)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir_fd, name, target, sizeof target - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	describe(k, st);
	archive_entry_set_symlink(k->entry, target);
	return write_header(k);
}

/* Push a directory. Owns fd. */
static int enter(struct pack *k, int fd)
{
	bool deep = k->depth == COPY_DEPTH_MAX;
	DIR *dir = deep ? NULL : fdopendir(fd);
	if (!dir) {
		int rc = deep ? -ELOOP : -errno;
		close(fd);
		return rc;
	}
	k->levels[k->depth++] = (struct pack_level){.dir = dir, .length = strlen(k->name)};
	return 0;
}

static int put_directory(struct pack *k, int dir_fd, const char *name, const struct stat *st)
{
	describe(k, st);
	int rc = write_header(k);
	int fd = rc == 0 ? place_open_in(dir_fd, name, O_RDONLY | O_DIRECTORY) : rc;
	return fd < 0 ? fd : enter(k, fd);
}

/* Append an entry's name to that of its directory. */
static int append_name(struct pack *k, const struct pack_level *l, const char *name)
{
	size_t n = strlen(name), slash = l->length > 0;
	if (l->length + slash + n >= sizeof k->name)
		return -ENAMETOOLONG;
	if (slash)
		k->name[l->length] = '/';
	memcpy(k->name + l->length + slash, name, n + 1);
	return 0;
}

static int put_entry(struct pack *k, int dir_fd, const char *name)
{
	struct stat st;
	if (k->options.excludes && k->options.excludes(k->options.user, k->name))
		return 0;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return errno == ENOENT ? 0 : -errno; /* ENOENT: removed meanwhile */
	if (S_ISDIR(st.st_mode))
		return temp_name_matches(name) ? 0 : put_directory(k, dir_fd, name, &st);
	if (S_ISREG(st.st_mode))
		return temp_name_matches(name) ? 0 : put_file(k, dir_fd, name, &st);
	return S_ISLNK(st.st_mode) ? put_link(k, dir_fd, name, &st) : 0;
}

static int put_next(struct pack *k)
{
	struct pack_level *l = &k->levels[k->depth - 1];
	k->name[l->length] = '\0';
	errno = 0;
	const struct dirent *e = readdir(l->dir);
	int rc = 0;
	if (!e) {
		if (errno != 0)
			note_loss(k, k->name, -errno);
		closedir(l->dir);
		k->depth--;
		return 0;
	}
	if (dir_is_dot(e->d_name))
		return 0;
	rc = append_name(k, l, e->d_name);
	if (rc == 0)
		rc = put_entry(k, dirfd(l->dir), e->d_name);
	if (rc < 0 && rc != -ENOMEM)
		note_loss(k, rc == -ENAMETOOLONG ? e->d_name : k->name, rc);
	return rc == -ENOMEM ? rc : 0;
}

/* Files */

/* The length of the next part of a file; *ret_hole: it is zeros, nothing to read. */
static size_t next_part(struct pack *k, bool *ret_hole)
{
	off_t end = k->size;
	while (k->data_at < k->data_count && k->data[k->data_at].to <= k->at)
		k->data_at++;
	*ret_hole = k->lost;
	if (k->data_count > 0 && !k->lost) {
		bool some = k->data_at < k->data_count;
		*ret_hole = !some || k->data[k->data_at].from > k->at;
		if (some)
			end = *ret_hole ? k->data[k->data_at].from : k->data[k->data_at].to;
	}
	off_t left = end - k->at, most = *ret_hole ? (off_t)HOLE_PART : (off_t)PART;
	return (size_t)(left < most ? left : most);
}

static void end_file(struct pack *k)
{
	close(k->fd);
	k->fd = -1;
	archive_write_finish_entry(k->archive);
}

static int put_part(struct pack *k)
{
	bool hole;
	if (k->at == k->size) {
		end_file(k);
		return k->cut ? -ENOMEM : 0;
	}
	size_t length = next_part(k, &hole);
	const char *bytes = hole ? zeros : k->part;
	if (!hole) {
		ssize_t n = pread(k->fd, k->part, length, k->at);
		if (n < 0 && errno == EINTR)
			return 0;
		if (n <= 0) {
			note_loss(k, k->name, n < 0 ? -errno : -ERR_CHANGED);
			k->lost = true;
			return 0;
		}
		length = (size_t)n;
	}
	k->at += (off_t)length;
	return archive_write_data(k->archive, bytes, length) < 0 ? -ENOMEM : 0;
}

/* The archive */

static int begin(struct pack *k)
{
	struct stat st;
	k->begun = true;
	if (fstat(dirfd(k->levels[0].dir), &st) < 0)
		return -errno;
	describe(k, &st);
	return write_header(k);
}

static int end(struct pack *k)
{
	k->over = true;
	return archive_write_close(k->archive) == ARCHIVE_OK ? 0 : -ENOMEM;
}

static int do_turn(struct pack *k)
{
	if (!k->begun)
		return begin(k);
	if (k->fd >= 0)
		return put_part(k);
	return k->depth > 0 ? put_next(k) : end(k);
}

int pack_next(struct pack *k, const char **ret_bytes, size_t *ret_length, bool *ret_over)
{
	int rc = 0;
	locale_t before = uselocale(k->locale);
	k->length = 0;
	for (unsigned i = 0; rc == 0 && !k->over && k->length < PACK_PIECE && i < TURNS_MAX; i++)
		rc = do_turn(k);
	uselocale(before);
	*ret_bytes = k->bytes;
	*ret_length = k->length;
	*ret_over = k->over;
	return rc;
}

const struct pack_losses *pack_losses(const struct pack *k)
{
	return &k->losses;
}

static bool open_archive(struct pack *k)
{
	k->archive = archive_write_new();
	k->entry = archive_entry_new();
	k->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return k->archive && k->entry && k->locale &&
		archive_write_set_format_pax(k->archive) == ARCHIVE_OK &&
		archive_write_set_bytes_per_block(k->archive, 0) == ARCHIVE_OK &&
		archive_write_open(k->archive, k, NULL, on_archive_write, NULL) == ARCHIVE_OK;
}

int pack_open(const struct place *p, const char *path, const struct pack_options *options,
	struct pack **ret)
{
	int fd = place_open(p, path, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	struct pack *k = calloc(1, sizeof *k);
	if (!k) {
		close(fd);
		return -ENOMEM;
	}
	k->fd = -1;
	if (options)
		k->options = *options;
	int rc = enter(k, fd);
	if (rc == 0 && !open_archive(k))
		rc = -ENOMEM;
	if (rc < 0) {
		pack_close(k);
		return rc;
	}
	*ret = k;
	return 0;
}

void pack_close(struct pack *k)
{
	struct linked *one, *next;
	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	while (k->depth > 0)
		closedir(k->levels[--k->depth].dir);
	if (k->archive) {
		k->closing = true; /* else archive_write_free() fills up the current entry */
		archive_write_free(k->archive);
	}
	if (k->entry)
		archive_entry_free(k->entry);
	if (k->locale)
		freelocale(k->locale);
	HASH_ITER (hh, k->linked, one, next) {
		HASH_DEL(k->linked, one); /* NOLINT(clang-analyzer-*): it is uthash's */
		free(one);
	}
	free(k->bytes);
	free(k);
}
