/* Saved whole, by rename: a crash leaves the old one or none, and then nobody has been started with a key of it. */
#include "shell/held/secret.h"

#include "shell/id.h"
#include "shell/store/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((size_t)4 << 20)
#define DIGITS ((size_t)2 * PROOF_KEY_SIZE)

static const char *const folders[] = {"sessions", "processes"};

static int add_old(struct secret *s, const char *place)
{
	char **old = realloc(s->old, (s->count + 1) * sizeof *old);
	if (!old)
		return -ENOMEM;
	s->old = old;
	old[s->count] = strdup(place);
	if (!old[s->count])
		return -ENOMEM;
	s->count++;
	return 0;
}

/* All that is in a folder now, if there is one. */
static int add_folder(struct secret *s, int runtime_fd, const char *folder)
{
	char place[PATH_MAX];
	int rc = 0;
	int fd = openat(runtime_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	DIR *dir = fdopendir(fd);
	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	for (struct dirent *d; rc == 0 && (d = readdir(dir));) {
		if (d->d_name[0] == '.' || strchr(d->d_name, '\n'))
			continue;
		snprintf(place, sizeof place, "%s/%s", folder, d->d_name);
		rc = add_old(s, place);
	}
	closedir(dir);
	return rc;
}

static int save(const struct secret *s, int runtime_fd)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof s->key.bytes; i++)
		fprintf(f, "%02x", s->key.bytes[i]);
	fputc('\n', f);
	for (size_t i = 0; i < s->count; i++)
		fprintf(f, "%s\n", s->old[i]);
	bool whole = !ferror(f);
	int rc = fclose(f) == 0 && whole ? file_save(runtime_fd, SECRET_FILE, text, length)
					 : -ENOMEM;
	if (text)
		explicit_bzero(text, length);
	free(text);
	return rc;
}

static int make(struct secret *s, int runtime_fd)
{
	int rc = id_random(s->key.bytes, sizeof s->key.bytes);
	for (size_t i = 0; rc == 0 && i < sizeof folders / sizeof *folders; i++)
		rc = add_folder(s, runtime_fd, folders[i]);
	return rc < 0 ? rc : save(s, runtime_fd);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_key(struct secret *s, const char *line)
{
	if (strlen(line) != DIGITS)
		return -EBADMSG;
	for (size_t i = 0; i < sizeof s->key.bytes; i++) {
		int high = digit(line[2 * i]), low = digit(line[2 * i + 1]);
		if (high < 0 || low < 0)
			return -EBADMSG;
		s->key.bytes[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

/* Those that are no more are forgotten: nobody may come in their name. */
static int parse(struct secret *s, int runtime_fd, char *text)
{
	struct stat st;
	bool forgotten = false;
	char *rest = text, *line = strsep(&rest, "\n");
	int rc = parse_key(s, line);
	while (rc == 0 && (line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		if (fstatat(runtime_fd, line, &st, AT_SYMLINK_NOFOLLOW) == 0)
			rc = add_old(s, line);
		else
			forgotten = true;
	}
	/* At worst they are forgotten the next time. */
	if (rc == 0 && forgotten)
		(void)save(s, runtime_fd);
	return rc;
}

static int load(struct secret *s, int runtime_fd)
{
	struct stat st;
	char *text;
	size_t length;
	if (fstatat(runtime_fd, SECRET_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		return -EACCES;
	int rc = file_load(runtime_fd, SECRET_FILE, FILE_MAX, &text, &length);
	if (rc < 0)
		return rc;
	rc = strlen(text) == length ? parse(s, runtime_fd, text) : -EBADMSG;
	explicit_bzero(text, length);
	free(text);
	return rc;
}

int secret_open(struct secret *s, int runtime_fd)
{
	*s = (struct secret){0};
	int rc = load(s, runtime_fd);
	if (rc == -ENOENT)
		rc = make(s, runtime_fd);
	s->known = rc == 0;
	if (rc < 0)
		secret_close(s);
	return rc;
}

void secret_close(struct secret *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->old[i]);
	free(s->old);
	explicit_bzero(s, sizeof *s);
}

bool secret_key(const struct secret *s, const char *folder, const char *directory,
	struct proof_key *ret_key)
{
	char place[PATH_MAX];
	if (!s || !s->known)
		return false;
	snprintf(place, sizeof place, "%s/%s", folder, directory);
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->old[i], place) == 0)
			return false;
	proof_derive(&s->key, place, ret_key);
	return true;
}
