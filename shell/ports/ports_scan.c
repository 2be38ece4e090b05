/* See ports_scan.h. A process that is reparented during a look may be missed until the next one. */
#include "shell/ports/ports_scan.h"

#include "pty/proc/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MIN ((size_t)16 << 10)
#define DEPTH_MAX 64u /* of a process below its root */

/* Read a file of /proc, of unknown size, up to PORTS_SCAN_TABLE_MAX. *ret_text: owned by the caller. */
static int read_table(const char *path, char **ret_text, size_t *ret_length, bool *ret_cut)
{
	size_t size = TEXT_MIN, length = 0;
	char *text = malloc(size);
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	if (fd < 0)
		rc = -errno;
	while (rc == 0 && text) {
		ssize_t n = read(fd, text + length, size - length);
		if (n < 0)
			rc = errno == EINTR ? 0 : -errno;
		if (n == 0)
			break;
		length += n > 0 ? (size_t)n : 0;
		if (length < size)
			continue;
		if (size == PORTS_SCAN_TABLE_MAX) {
			*ret_cut = true;
			break;
		}
		size *= 2;
		char *grown = realloc(text, size);
		if (!grown)
			rc = -ENOMEM;
		else
			text = grown;
	}
	if (fd >= 0)
		close(fd);
	if (!text)
		rc = -ENOMEM;
	if (rc < 0) {
		free(text);
		return rc;
	}
	*ret_text = text;
	*ret_length = length;
	return 0;
}

static int add_table(struct ports_scan *l, const char *path, bool v6)
{
	char *text;
	size_t length;
	int rc = read_table(path, &text, &length, &l->truncated);
	if (rc < 0)
		return rc;
	listening_add(&l->found, text, length, v6);
	free(text);
	return 0;
}

/* All processes of the machine, sorted by pid. */
struct family {
	struct proc_status *all;
	size_t count, size;
	bool cut; /* there are more than PORTS_SCAN_PROCESSES_MAX, or memory is short */
};

static bool add_process(void *user, pid_t pid)
{
	struct family *f = user;
	if (f->count == f->size) {
		size_t size = f->size ? f->size * 2 : 512;
		struct proc_status *grown = size <= PORTS_SCAN_PROCESSES_MAX
			? realloc(f->all, size * sizeof *grown)
			: NULL;
		if (!grown) {
			f->cut = true;
			return false;
		}
		f->all = grown;
		f->size = size;
	}
	if (proc_status(pid, &f->all[f->count]))
		f->count++;
	return true;
}

static int compare_pids(const void *a, const void *b)
{
	const struct proc_status *p = a, *q = b;
	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

/* Returns false if the list is incomplete. */
static bool read_family(struct family *f)
{
	int rc = proc_each(add_process, f);
	if (f->count > 0)
		qsort(f->all, f->count, sizeof *f->all, compare_pids);
	return rc == 0 && !f->cut;
}

/* The index of the root that is an ancestor of pid, or roots_count. */
static size_t root_of(const struct ports_scan *l, const struct family *f, pid_t pid)
{
	for (unsigned depth = 0; pid > 1 && depth < DEPTH_MAX; depth++) {
		for (size_t i = 0; i < l->roots_count; i++)
			if (l->roots[i] == pid)
				return i;
		const struct proc_status key = {.pid = pid};
		const struct proc_status *e = bsearch(
			&key, f->all, f->count, sizeof *f->all, compare_pids);
		pid = e ? e->parent : 0;
	}
	return l->roots_count;
}

/* If this socket listens and has no owner yet, the process becomes its owner. */
static void note_socket(
	struct ports_scan *l, uint64_t inode, const struct proc_status *owner, size_t root)
{
	for (size_t i = 0; i < l->found.count; i++) {
		struct ports_scan_owner *o = &l->owners[i];
		const struct listening_port *p = &l->found.ports[i];
		for (unsigned s = 0; s < p->inodes_count; s++) {
			if (p->inodes[s] != inode || o->pid != 0)
				continue;
			o->pid = owner->pid;
			o->root = root;
			memcpy(o->name, owner->name, sizeof o->name);
		}
	}
}

/* The sockets of a process. */
struct sockets {
	pid_t pid;
	unsigned count;
	bool cut; /* there are more than PORTS_SCAN_FILES_MAX descriptors */
	uint64_t inodes[PORTS_SCAN_FILES_MAX];
};

static void find_sockets(struct attempt *attempt, void *data)
{
	struct sockets *s = data;
	char path[40], target[64];
	unsigned looked = 0;
	(void)attempt;
	snprintf(path, sizeof path, "/proc/%d/fd", (int)s->pid);
	DIR *dir = opendir(path);
	const struct dirent *e;
	while (dir && (e = readdir(dir))) {
		if (looked++ == PORTS_SCAN_FILES_MAX) {
			s->cut = true;
			break;
		}
		ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof target - 1);
		if (n <= 8 || memcmp(target, "socket:[", 8) != 0)
			continue;
		target[n] = '\0';
		s->inodes[s->count++] = strtoull(target + 8, NULL, 10);
	}
	if (dir)
		closedir(dir);
}

static void look_at_files(struct ports_scan *l, const struct proc_status *owner, size_t root)
{
	struct sockets s = {.pid = owner->pid};
	const struct attempt_call call = {.key = l->roots[root], .work = find_sockets};
	if (attempt_run(&l->attempts, &call, &s, sizeof s) < 0)
		s.cut = l->hung = true;
	for (unsigned i = 0; i < s.count; i++)
		note_socket(l, s.inodes[i], owner, root);
	l->truncated = l->truncated || s.cut;
}

/*
 * By pid, so that the process that opened a socket usually comes before children that inherited it.
 */
static void find_owners(struct ports_scan *l)
{
	struct family f = {0};
	if (!read_family(&f))
		l->truncated = true;
	for (size_t i = 0; i < f.count; i++) {
		size_t root = root_of(l, &f, f.all[i].pid);
		if (root < l->roots_count && f.all[i].pid != l->roots[root])
			look_at_files(l, &f.all[i], root);
	}
	free(f.all);
}

void ports_scan(struct ports_scan *l)
{
	memset(&l->found, 0, sizeof l->found);
	l->truncated = l->same = l->hung = false;
	l->error = add_table(l, "/proc/net/tcp", false);
	/* A kernel without IPv6 has no such file. */
	int rc = l->error == 0 ? add_table(l, "/proc/net/tcp6", true) : 0;
	if (rc < 0 && rc != -ENOENT)
		l->error = rc;
	l->truncated |= l->found.truncated;
	if (l->error < 0)
		return;
	l->same = l->known && listening_is_same(l->known, &l->found);
	if (l->same)
		return;
	memset(l->owners, 0, sizeof l->owners);
	if (l->found.count > 0 && l->roots_count > 0)
		find_owners(l);
}
