/* See notes.h. What cannot be noted or read is done without: at worst a run outlives a killed server. */
#include "shell/run/notes.h"

#include "pty/marked.h"

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

struct hunt {
	int notes;
	unsigned found;
};

static void on_marked(void *user, const struct marked_process *k)
{
	struct hunt *h = user;
	struct stat st;
	if (!k->mark[0] || strchr(k->mark, '/') ||
		fstatat(h->notes, k->mark, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	if (k->pid != getpid() && kill(k->pid, SIGKILL) == 0)
		h->found++;
}

/* Forget all notes, if that is wanted. Returns how many there are. */
static unsigned each_note(int notes, bool forget)
{
	unsigned count = 0;
	int fd = openat(notes, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
			unlinkat(notes, e->d_name, 0);
	}
	closedir(d);
	return count;
}

int run_notes_open(const char *dir, const char *variable)
{
	struct hunt h = {.found = 1};
	int rc = 0, dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return -errno;
	h.notes = -1;
	if (mkdirat(dir_fd, "runs", 0700) == 0 || errno == EEXIST)
		h.notes = openat(dir_fd, "runs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (h.notes < 0)
		rc = -errno;
	close(dir_fd);
	if (rc < 0)
		return rc;
	for (int i = 0; each_note(h.notes, false) > 0 && h.found > 0 && i < ROUNDS_MAX; i++) {
		h.found = 0;
		if (marked_each(variable, on_marked, &h) < 0)
			break;
	}
	each_note(h.notes, true);
	return h.notes;
}

void run_note(int notes, const char *mark)
{
	int fd = openat(notes, mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

void run_note_remove(int notes, const char *mark)
{
	unlinkat(notes, mark, 0);
}
