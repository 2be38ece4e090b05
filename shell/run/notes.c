/*
 * See notes.h. What cannot be noted or read is done without: at worst a run outlives a killed server. The file has a line
 * for each place, blank while it is free; the first releases have made a file for each run beside it, by its mark.
 */
#include "shell/run/notes.h"

#include "pty/marked.h"
#include "shell/run/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS_MAX 100 /* they may start others while we look */
#define FILE_NAME ".going"
#define MARK_LENGTH (RUN_MARK_SIZE - 1)
#define LINE RUN_MARK_SIZE /* a mark and an end of line */

struct hunt {
	int files; /* the directory */
	char lines[RUNS_MAX * LINE];
	size_t length;
	unsigned found;
	const char *variable; /* that has the mark */
};

/* Whether the file has it. */
static bool has_line(const struct hunt *h, const char *mark)
{
	if (strlen(mark) != MARK_LENGTH || strchr(mark, ' '))
		return false;
	for (size_t at = 0; at + MARK_LENGTH <= h->length; at += LINE)
		if (memcmp(h->lines + at, mark, MARK_LENGTH) == 0)
			return true;
	return false;
}

/* Whether there is a file of this name. */
static bool has_file(const struct hunt *h, const char *mark)
{
	struct stat st;
	return mark[0] && !strchr(mark, '/') &&
		fstatat(h->files, mark, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static void on_marked(void *user, const struct marked_process *k)
{
	struct hunt *h = user;
	if (!has_line(h, k->mark) && !has_file(h, k->mark))
		return;
	if (k->pid != getpid() && marked_signal(h->variable, k, SIGKILL))
		h->found++;
}

/* Remove all files of marks, if that is wanted. Returns how many there are. */
static unsigned each_file(int files, bool forget)
{
	unsigned count = 0;
	int fd = openat(files, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		count++;
		if (forget)
			unlinkat(files, e->d_name, 0);
	}
	closedir(d);
	return count;
}

/* Kill until nobody is found. */
static void kill_noted(struct hunt *h, int fd, const char *variable)
{
	h->variable = variable;
	ssize_t n = pread(fd, h->lines, sizeof h->lines, 0);
	h->length = n > 0 ? (size_t)n : 0;
	h->found = h->length > 0 || each_file(h->files, false) > 0;
	for (int i = 0; h->found > 0 && i < ROUNDS_MAX; i++) {
		h->found = 0;
		if (marked_each(variable, on_marked, h) < 0)
			break;
	}
}

static int open_directory(const char *dir)
{
	int fd = -1, dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return -errno;
	if (mkdirat(dir_fd, "runs", 0700) == 0 || errno == EEXIST)
		fd = openat(dir_fd, "runs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = fd < 0 ? -errno : fd;
	close(dir_fd);
	return rc;
}

int run_notes_open(struct run_notes *n, const char *dir, const char *variable)
{
	struct hunt h = {.files = open_directory(dir)};
	int rc = 0;
	if (h.files < 0)
		return h.files;
	*n = (struct run_notes){
		.fd = openat(h.files, FILE_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
	if (n->fd < 0) {
		rc = -errno;
	} else {
		kill_noted(&h, n->fd, variable);
		each_file(h.files, true);
		(void)!ftruncate(n->fd, 0); /* at worst nobody is found of them again */
	}
	close(h.files);
	return rc;
}

void run_notes_close(struct run_notes *n)
{
	close(n->fd);
	n->fd = -1;
}

static void put_line(const struct run_notes *n, unsigned place, const char *mark)
{
	char line[LINE];
	memset(line, ' ', sizeof line);
	memcpy(line, mark, strnlen(mark, MARK_LENGTH));
	line[LINE - 1] = '\n';
	(void)!pwrite(n->fd, line, sizeof line, (off_t)place * LINE);
}

unsigned run_note(struct run_notes *n, const char *mark)
{
	unsigned place = 0;
	while (place < RUNS_MAX - 1 && n->taken[place])
		place++;
	n->taken[place] = true;
	put_line(n, place, mark);
	return place;
}

void run_note_remove(struct run_notes *n, unsigned place)
{
	n->taken[place] = false;
	put_line(n, place, "");
}
