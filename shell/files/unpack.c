/* libarchive parses; files are written through openat2(2), one directory at a time. */
#include "shell/files/unpack.h"

#include "shell/write_all.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct unpacking {
	const struct place *place;
	const struct unpack_options *options;
	struct unpack_result *result;
	struct archive *archive;
	int error; /* of options->read() */
};

/* The final mode and time of a directory; its name follows, with a NUL. */
struct settled {
	struct timespec time;
	mode_t mode;
	bool timed;
	unsigned length; /* of the name, with its NUL */
};

/* Normalise a name: no ".", no double or trailing slashes; "": the place itself. Returns 0 or a negative errno. */
static int clean_name(const char *name, char ret_name[PLACE_PATH_MAX])
{
	size_t n = 0;
	unsigned depth = 0;
	if (!name)
		return -EBADMSG;
	if (name[0] == '/')
		return -EXDEV;
	while (*name) {
		size_t length = strcspn(name, "/");
		bool nothing = length == 0 || (length == 1 && name[0] == '.');
		if (length == 2 && name[0] == '.' && name[1] == '.')
			return -EXDEV;
		if (!nothing && n + length + 2 > PLACE_PATH_MAX)
			return -ENAMETOOLONG;
		if (!nothing && n > 0)
			ret_name[n++] = '/';
		if (!nothing)
			memcpy(ret_name + n, name, length);
		n += nothing ? 0 : length;
		if (!nothing && ++depth > UNPACK_DEPTH_MAX)
			return -ELOOP;
		name += length + (name[length] == '/');
	}
	ret_name[n] = '\0';
	return 0;
}

static int count_entry(struct unpacking *u)
{
	return ++u->result->entries > UNPACK_ENTRIES_MAX ? -EFBIG : 0;
}

/* Make a parent directory unless it exists. Returns 0 or a negative errno. */
static int make_parent(struct unpacking *u, int fd, const char *name)
{
	if (mkdirat(fd, name, 0777) < 0)
		return errno == EEXIST ? 0 : -errno;
	return count_entry(u);
}

/* Open the directory of a name, and make missing ones; -EXDEV if one is a link. */
static int open_parent(struct unpacking *u, const char *name, struct place_entry *ret)
{
	int fd = fcntl(u->place->cwd_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	for (;;) {
		size_t length = strcspn(name, "/");
		if (length > NAME_MAX) {
			close(fd);
			return -ENAMETOOLONG;
		}
		snprintf(ret->name, sizeof ret->name, "%.*s", (int)length, name);
		if (!name[length])
			break;
		name += length + 1;
		int rc = make_parent(u, fd, ret->name);
		if (rc < 0) {
			close(fd);
			return rc;
		}
		int next = place_open_in(fd, ret->name, O_PATH | O_DIRECTORY);
		close(fd);
		if (next < 0)
			return next == -ELOOP || next == -ENOTDIR ? -EXDEV : next;
		fd = next;
	}
	ret->dir_fd = fd;
	return 0;
}

static int write_content(struct unpacking *u, int fd, int64_t size)
{
	const void *bytes;
	size_t length;
	int64_t offset;
	int rc, status;
	if (size < 0 || (uint64_t)size > u->options->bytes_max - u->result->bytes)
		return -EFBIG;
	u->result->bytes += (uint64_t)size;
	while ((status = archive_read_data_block(u->archive, &bytes, &length, &offset)) ==
		ARCHIVE_OK) {
		if (offset < 0 || offset > size || (int64_t)length > size - offset)
			return -EBADMSG;
		rc = write_all_at(fd, bytes, length, (uint64_t)offset);
		if (rc < 0)
			return rc;
	}
	if (status != ARCHIVE_EOF)
		return u->error < 0 ? u->error : -EBADMSG;
	return ftruncate(fd, size) < 0 ? -errno : 0;
}

/* Remove an existing entry, unless it is a directory. */
static int remove_existing(const struct place_entry *e)
{
	if (unlinkat(e->dir_fd, e->name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EPERM ? -EISDIR : -errno;
}

static int put_file(struct unpacking *u, const struct place_entry *e, struct archive_entry *entry)
{
	mode_t mode = archive_entry_perm(entry) & 0777;
	int rc = remove_existing(e), fd;
	if (rc < 0)
		return rc;
	fd = openat(e->dir_fd, e->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
		{.tv_sec = archive_entry_mtime(entry), .tv_nsec = archive_entry_mtime_nsec(entry)}};
	rc = write_content(u, fd, archive_entry_size(entry));
	if (rc == 0 && fchmod(fd, mode) < 0)
		rc = -errno;
	if (rc == 0 && archive_entry_mtime_is_set(entry))
		(void)futimens(fd, times); /* the file system may not support it */
	close(fd);
	return rc;
}

/* Remember mode and time of a directory until its content is complete: it may be read-only. */
static int note_directory(struct unpack_result *r, const char *name, struct archive_entry *entry)
{
	size_t length = strlen(name) + 1;
	struct settled s = {.mode = archive_entry_perm(entry) & 0777,
		.timed = archive_entry_mtime_is_set(entry) != 0,
		.length = (unsigned)length};
	if (s.timed)
		s.time = (struct timespec){.tv_sec = archive_entry_mtime(entry),
			.tv_nsec = archive_entry_mtime_nsec(entry)};
	size_t needed = r->directories_length + sizeof s + length;
	if (needed > UNPACK_DIRECTORIES_BYTES_MAX)
		return -EFBIG;
	if (needed > r->directories_capacity) {
		char *more = realloc(r->directories, 2 * needed);
		if (!more)
			return -ENOMEM;
		r->directories = more;
		r->directories_capacity = 2 * needed;
	}
	memcpy(r->directories + r->directories_length, &s, sizeof s);
	memcpy(r->directories + r->directories_length + sizeof s, name, length);
	r->directories_length = needed;
	r->directories_count++;
	return 0;
}

static int put_directory(struct unpacking *u, const struct place_entry *e, const char *name,
	struct archive_entry *entry)
{
	if (mkdirat(e->dir_fd, e->name, 0777) < 0 && errno != EEXIST)
		return -errno;
	int fd = place_open_in(e->dir_fd, e->name, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd == -ELOOP || fd == -ENOTDIR ? -EXDEV : fd;
	/* Writable until unpack_apply_directories(), so that its content can be unpacked. */
	int rc = fchmod(fd, (archive_entry_perm(entry) & 0777) | 0700) < 0 ? -errno : 0;
	close(fd);
	return rc < 0 ? rc : note_directory(u->result, name, entry);
}

static int put_link(struct unpacking *u, const struct place_entry *e, const char *target)
{
	char name[PLACE_PATH_MAX];
	struct place_entry to = {.dir_fd = -1};
	struct stat st, own;
	int rc = clean_name(target, name);
	if (rc == 0)
		rc = open_parent(u, name, &to);
	if (rc < 0)
		return rc;
	if (fstatat(to.dir_fd, to.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = -EPERM;
	/* tar stores a file that was listed twice as a link to itself. */
	bool same = rc == 0 && fstatat(e->dir_fd, e->name, &own, AT_SYMLINK_NOFOLLOW) == 0 &&
		own.st_dev == st.st_dev && own.st_ino == st.st_ino;
	if (rc == 0 && !same)
		rc = remove_existing(e);
	if (rc == 0 && !same && linkat(to.dir_fd, to.name, e->dir_fd, e->name, 0) < 0)
		rc = -errno;
	place_entry_close(&to);
	return rc;
}

static int put_symlink(const struct place_entry *e, struct archive_entry *entry)
{
	const char *target = archive_entry_symlink(entry);
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
		{.tv_sec = archive_entry_mtime(entry), .tv_nsec = archive_entry_mtime_nsec(entry)}};
	int rc = target && *target ? remove_existing(e) : -EBADMSG;
	if (rc == 0 && symlinkat(target, e->dir_fd, e->name) < 0)
		rc = -errno;
	if (rc == 0 && archive_entry_mtime_is_set(entry))
		(void)!utimensat(e->dir_fd, e->name, times, AT_SYMLINK_NOFOLLOW);
	return rc;
}

static int put_entry(struct unpacking *u, struct archive_entry *entry)
{
	char name[PLACE_PATH_MAX];
	struct place_entry e = {.dir_fd = -1};
	const char *hard = archive_entry_hardlink(entry);
	int rc = clean_name(archive_entry_pathname(entry), name);
	if (rc == 0 && !name[0] && archive_entry_filetype(entry) == AE_IFDIR)
		return note_directory(u->result, name, entry);
	if (rc < 0 || !name[0])
		return rc;
	rc = open_parent(u, name, &e);
	if (rc < 0)
		return rc;
	if (hard)
		rc = put_link(u, &e, hard);
	else if (archive_entry_filetype(entry) == AE_IFREG)
		rc = put_file(u, &e, entry);
	else if (archive_entry_filetype(entry) == AE_IFDIR)
		rc = put_directory(u, &e, name, entry);
	else if (archive_entry_filetype(entry) == AE_IFLNK)
		rc = put_symlink(&e, entry);
	else
		rc = -EPERM;
	place_entry_close(&e);
	return rc;
}

static int put_all(struct unpacking *u)
{
	struct archive_entry *entry;
	struct unpack_result *r = u->result;
	for (;;) {
		int status = archive_read_next_header(u->archive, &entry);
		if (status == ARCHIVE_EOF)
			return u->error;
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
			return u->error < 0 ? u->error : -EBADMSG;
		const char *name = archive_entry_pathname(entry);
		snprintf(r->name, sizeof r->name, "%s", name ? name : "");
		int rc = count_entry(u);
		if (rc == 0)
			rc = put_entry(u, entry);
		if (rc < 0)
			return rc;
		r->name[0] = '\0';
	}
}

static la_ssize_t on_archive_read(struct archive *a, void *user, const void **ret_bytes)
{
	struct unpacking *u = user;
	ssize_t n = u->options->read(u->options->user, ret_bytes);
	(void)a;
	if (n < 0)
		u->error = (int)n;
	return n < 0 ? ARCHIVE_FATAL : (la_ssize_t)n;
}

/* Read the padding after the archive's end. */
static int read_rest(struct unpacking *u)
{
	const void *bytes;
	ssize_t n;
	do
		n = u->options->read(u->options->user, &bytes);
	while (n > 0);
	return (int)n;
}

int unpack(const struct place *p, const struct unpack_options *options, struct unpack_result *ret)
{
	*ret = (struct unpack_result){0};
	struct unpacking u = {
		.place = p, .options = options, .result = ret, .archive = archive_read_new()};
	/* UTF-8; names may still be any bytes. */
	locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	int rc = u.archive && locale ? -EBADMSG : -ENOMEM;
	locale_t before = locale ? uselocale(locale) : (locale_t)0;
	/* Only plain tar: a compressed archive could expand to any size. */
	if (rc == -EBADMSG && archive_read_support_format_tar(u.archive) == ARCHIVE_OK) {
		if (archive_read_open(u.archive, &u, NULL, on_archive_read, NULL) == ARCHIVE_OK)
			rc = put_all(&u);
		else if (u.error < 0)
			rc = u.error;
	}
	archive_read_free(u.archive);
	if (locale) {
		uselocale(before);
		freelocale(locale);
	}
	return rc == 0 ? read_rest(&u) : rc;
}

/* Open a directory below another; links are not followed. */
static int open_below(int dir_fd, const char *name)
{
	struct place_entry at = {.dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0)};
	while (at.dir_fd >= 0 && *name) {
		size_t length = strcspn(name, "/");
		snprintf(at.name, sizeof at.name, "%.*s", (int)length, name);
		name += length + (name[length] == '/');
		int next = place_open_in(at.dir_fd, at.name, O_RDONLY | O_DIRECTORY);
		close(at.dir_fd);
		at.dir_fd = next;
	}
	return at.dir_fd;
}

void unpack_apply_directories(int dir_fd, const struct unpack_result *result, bool itself)
{
	/* Backwards: a directory comes before its content, and its final mode may deny access to that. */
	size_t count = 0, at = 0;
	struct settled s;
	size_t *starts = calloc(result->directories_count + 1, sizeof *starts);
	if (!starts)
		return; /* the directories keep usable modes */
	for (; count < result->directories_count; at += sizeof s + s.length) {
		memcpy(&s, result->directories + at, sizeof s);
		starts[count++] = at;
	}
	while (count > 0) {
		at = starts[--count];
		memcpy(&s, result->directories + at, sizeof s);
		const char *name = result->directories + at + sizeof s;
		int fd = *name || itself ? open_below(dir_fd, name) : -1;
		const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, s.time};
		if (fd < 0)
			continue;
		/* The file system may not support these. */
		(void)!fchmod(fd, s.mode);
		if (s.timed)
			(void)futimens(fd, times);
		close(fd);
	}
	free(starts);
}

void unpack_finish(struct unpack_result *result)
{
	free(result->directories);
	result->directories = NULL;
	result->directories_length = result->directories_capacity = result->directories_count = 0;
}

struct memory {
	const void *bytes;
	size_t length;
};

static ssize_t read_memory(void *user, const void **ret_bytes)
{
	struct memory *m = user;
	size_t n = m->length;
	*ret_bytes = m->bytes;
	m->length = 0;
	return (ssize_t)n;
}

int unpack_bytes(const struct place *p, const void *bytes, size_t length, uint64_t bytes_max,
	struct unpack_result *ret)
{
	struct memory memory = {.bytes = bytes, .length = length};
	const struct unpack_options options = {
		.read = read_memory, .user = &memory, .bytes_max = bytes_max};
	int rc = unpack(p, &options, ret);
	if (rc == 0)
		unpack_apply_directories(p->cwd_fd, ret, false);
	return rc;
}
