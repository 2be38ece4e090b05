/*
 * The mark is a soft limit that the kernel does not use (RLIMIT_LOCKS): prlimit(2) reads it for a tenth of
 * what a file in /proc costs.
 */
#include "shell/held/orphans.h"

#include "shell/proc/tree.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

struct found {
	struct tree_entry entry;
	size_t set;
};

struct hunt {
	struct orphans *sets;
	size_t set_count;
	struct found *found;
	size_t count, capacity;
};

static uint64_t mark_of(pid_t pid)
{
	struct rlimit limit;
	if (prlimit(pid, RLIMIT_LOCKS, NULL, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	return limit.rlim_cur;
}

/* The set that pid belongs to, or set_count. */
static size_t set_of(const struct hunt *h, pid_t pid)
{
	uint64_t mark = mark_of(pid);
	pid_t session = getsid(pid);
	size_t i;
	for (i = 0; i < h->set_count; i++) {
		const struct orphans *o = &h->sets[i];
		struct tree_entry e;
		if (mark != 0 && mark == o->mark)
			break;
		if (session > 0 && session == o->session && tree_read(pid, &e) &&
			e.start <= o->lost_ticks)
			break;
	}
	return i;
}

static int add(struct hunt *h, const struct tree_entry *e, size_t set)
{
	if (h->count == TREE_MAX)
		return 0;
	if (h->count == h->capacity) {
		size_t capacity = h->capacity ? 2 * h->capacity : 64;
		struct found *found = realloc(h->found, capacity * sizeof *found);
		if (!found)
			return -ENOMEM;
		h->found = found;
		h->capacity = capacity;
	}
	h->found[h->count++] = (struct found){.entry = *e, .set = set};
	return 0;
}

static int look_at(struct hunt *h, pid_t pid)
{
	struct tree_entry e;
	size_t set = set_of(h, pid);
	/* Asked again, for the number may have changed hands before it was read whose it is. */
	if (set == h->set_count || pid == getpid() || !tree_read(pid, &e) || !tree_is_living(&e) ||
		set_of(h, pid) != set)
		return 0;
	return add(h, &e, set);
}

/* Who has a parent that was found belongs to it, even without the mark. */
static int add_below(struct hunt *h)
{
	size_t marked = h->count;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < marked; i++) {
		struct tree_entry *below = NULL;
		size_t count = 0;
		if (tree_list(h->found[i].entry.pid, 0, &below, &count) == -ENOMEM)
			return -ENOMEM;
		for (size_t k = 0; rc == 0 && k < count; k++)
			if (below[k].pid != getpid() && set_of(h, below[k].pid) == h->set_count)
				rc = add(h, &below[k], h->found[i].set);
		free(below);
	}
	return rc;
}

static int hunt(struct hunt *h)
{
	int rc = 0;
	DIR *dir = opendir("/proc");
	if (!dir)
		return -errno;
	h->count = 0;
	for (struct dirent *d; rc == 0 && (d = readdir(dir));)
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			rc = look_at(h, (pid_t)strtol(d->d_name, NULL, 10));
	closedir(dir);
	return rc == 0 ? add_below(h) : rc;
}

static int call(struct hunt *h, int signo)
{
	struct tree_call c = {.signo = signo};
	int rc = hunt(h);
	for (size_t i = 0; i < h->count; i++)
		tree_call(&c, &h->found[i].entry);
	return rc;
}

int orphans_end(struct orphans *sets, size_t count)
{
	struct hunt h = {.sets = sets, .set_count = count};
	int rc = call(&h, SIGSTOP);
	if (rc == 0 && h.count > 0)
		rc = call(&h, SIGKILL);
	for (size_t i = 0; i < count; i++)
		sets[i].count = 0;
	for (size_t i = 0; i < h.count; i++)
		sets[h.found[i].set].count++;
	free(h.found);
	return rc;
}
