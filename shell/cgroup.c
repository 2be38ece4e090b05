/*
 * See cgroup.h. A group with controllers for those below it may have no processes itself (cgroups(7), "no internal
 * processes"): hence BASE/server. systemd starts a service in BASE again (in BASE/server, with DelegateSubgroup= of release
 * 254), so the units take the controllers away in between, and with them the limits: these are written anew at each start.
 */
#include "shell/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utlist.h>

#define SERVER "server"
#define TEXT_MAX ((size_t)1 << 20) /* of a file of the kernel */
#define ROUNDS_MAX 100u            /* for those who fork while they are moved */
#define DEPTH_MAX 16u              /* of groups that a session has made below its own */

/* What is to be removed later. */
struct leftover {
	struct leftover *prev, *next;
	bool kill;
	char name[NAME_MAX + 1];
};

struct cgroup {
	int base_fd;
	struct cgroup_limits limits;
	struct leftover *leftovers;
};

/* Files of the kernel */

/* All of a file, the caller's; NULL when it cannot be read. */
static char *read_file(int dir_fd, const char *path)
{
	char *text = NULL;
	size_t length = 0, size = 0;
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	for (ssize_t n = 1; fd >= 0 && n > 0 && length<TEXT_MAX; length += n> 0 ? (size_t)n : 0) {
		if (size < length + 4096) {
			char *bigger = realloc(text, size = 2 * length + 8192);
			if (!bigger)
				break;
			text = bigger;
		}
		n = read(fd, text + length, size - length - 1);
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[length] = '\0';
	return text;
}

/* One write, as these files want it. group: "" = base. */
static int write_file(const struct cgroup *c, const char *group, const char *file, const char *text)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s%s%s", group, *group ? "/" : "", file);
	int fd = openat(c->base_fd, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int rc = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* Where we are */

/* The words of a line of mountinfo: 4 is the root of the mount, 5 its place, and after " - " comes its type. See proc(5). */
static bool parse_mount(const char *line, size_t length, char *ret_root, char *ret_place)
{
	char text[2 * PATH_MAX], type[32];
	int at = 0;
	if (length >= sizeof text)
		return false;
	memcpy(text, line, length);
	text[length] = '\0';
	const char *tail = strstr(text, " - ");
	return tail && sscanf(tail, " - %31s", type) == 1 && strcmp(type, "cgroup2") == 0 &&
		sscanf(text, "%*s %*s %*s %4095s %4095s%n", ret_root, ret_place, &at) == 2;
}

/* The path behind "0::", which is that of v2. */
static bool parse_own(const char *own, char ret_path[PATH_MAX])
{
	for (const char *line = own; line && *line; line = strchr(line, '\n'), line += line != NULL)
		if (strncmp(line, "0::/", 4) == 0) {
			size_t length = strcspn(line + 3, "\n");
			if (length >= PATH_MAX || strncmp(line + 3, "/..", 3) == 0)
				return false;
			memcpy(ret_path, line + 3, length);
			ret_path[length] = '\0';
			return true;
		}
	return false;
}

bool cgroup_find(const char *mounts, const char *own, char ret_path[PATH_MAX])
{
	char group[PATH_MAX], root[PATH_MAX], place[PATH_MAX];
	if (!parse_own(own, group))
		return false;
	for (const char *line = mounts; line && *line;) {
		size_t length = strcspn(line, "\n");
		if (parse_mount(line, length, root, place)) {
			size_t skip = strcmp(root, "/") == 0 ? 0 : strlen(root);
			const char *rest = group + skip;
			if (strncmp(group, root, skip) == 0 && (*rest == '/' || !*rest))
				return snprintf(ret_path, PATH_MAX, "%s%s", place,
					       strcmp(rest, "/") == 0 ? "" : rest) < PATH_MAX;
		}
		line += length + (line[length] == '\n');
	}
	return false;
}

/* Into the group that is to be divided: ours, or what that is below if an earlier start has moved us there. */
static bool find_base(char ret_path[PATH_MAX])
{
	char *mounts = read_file(AT_FDCWD, "/proc/self/mountinfo");
	char *own = read_file(AT_FDCWD, "/proc/self/cgroup");
	bool found = mounts && own && cgroup_find(mounts, own, ret_path);
	free(mounts);
	free(own);
	char *last = found ? strrchr(ret_path, '/') : NULL;
	if (last && strcmp(last, "/" SERVER) == 0)
		*last = '\0';
	return found;
}

/* Making it ours */

static bool is_delegated(const struct cgroup *c)
{
	char value = '0';
	return (fgetxattr(c->base_fd, "user.delegate", &value, 1) == 1 ||
		       fgetxattr(c->base_fd, "trusted.delegate", &value, 1) == 1) &&
		value == '1';
}

/* Move one process to where the server is. One that has ended meanwhile is no matter. */
static int move(const struct cgroup *c, const char *pid)
{
	int rc = write_file(c, SERVER, "cgroup.procs", pid);
	return rc == -ESRCH ? 0 : rc;
}

/* Whether somebody is in the base who is not us. */
static bool has_others(const struct cgroup *c)
{
	char self[32];
	snprintf(self, sizeof self, "%d", (int)getpid());
	char *list = read_file(c->base_fd, "cgroup.procs"), *rest = list;
	const char *pid = list ? strtok_r(list, "\n", &rest) : NULL;
	while (pid && strcmp(pid, self) == 0)
		pid = strtok_r(NULL, "\n", &rest);
	free(list);
	return pid != NULL;
}

/* Move all who are in the base. Returns how many there were, or a negative errno. */
static int move_all(const struct cgroup *c)
{
	int rc = 0, count = 0;
	char *list = read_file(c->base_fd, "cgroup.procs"), *rest = list;
	if (!list)
		return -EIO;
	for (const char *pid; rc == 0 && (pid = strtok_r(count ? NULL : list, "\n", &rest)); count++)
		rc = move(c, pid);
	free(list);
	return rc < 0 ? rc : count;
}

/* Nobody may stay in the base itself. Whoever is there is ours only if all of it is. */
static int empty_base(const struct cgroup *c)
{
	if (!is_delegated(c) && has_others(c)) {
		unlinkat(c->base_fd, SERVER, AT_REMOVEDIR); /* as it was */
		return -EBUSY;
	}
	int rc = 1;
	for (unsigned round = 0; rc > 0 && round < ROUNDS_MAX; round++)
		rc = move_all(c);
	return rc > 0 ? -EBUSY : rc;
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = words; (at = strstr(at, word)); at += length)
		if ((at == words || at[-1] == ' ') && (!at[length] || strchr(" \n", at[length])))
			return true;
	return false;
}

/* The controllers that the limits need, if they are there: else ret_why says which is not. */
static int have_controllers(const struct cgroup *c, const char *base, char *ret_why, size_t size)
{
	const struct {
		const char *name;
		bool needed;
	} all[] = {{"pids", c->limits.tasks > 0}, {"memory", c->limits.memory > 0}};
	char *there = read_file(c->base_fd, "cgroup.controllers");
	int rc = 0;
	for (size_t i = 0; i < sizeof all / sizeof *all && rc == 0; i++) {
		if (!all[i].needed || has_word(there ? there : "", all[i].name))
			continue;
		snprintf(ret_why, size,
			"%s has no controller \"%s\" (its cgroup.controllers: %.*s)", base,
			all[i].name, (int)strcspn(there ? there : "", "\n"), there ? there : "");
		rc = -ENOTSUP;
	}
	free(there);
	return rc;
}

static int enable_controllers(const struct cgroup *c)
{
	int rc = c->limits.tasks > 0 ? write_file(c, "", "cgroup.subtree_control", "+pids") : 0;
	if (rc == 0 && c->limits.memory > 0)
		rc = write_file(c, "", "cgroup.subtree_control", "+memory");
	return rc;
}

static int divide(struct cgroup *c, const char *base, char *ret_why, size_t size)
{
	int rc = have_controllers(c, base, ret_why, size);
	if (rc < 0)
		return rc;
	if (mkdirat(c->base_fd, SERVER, 0755) < 0 && errno != EEXIST) {
		rc = -errno;
		snprintf(ret_why, size,
			"%s is not this server's to divide: %s (a service with Delegate=yes, or: "
			"systemd-run --user --scope -p Delegate=yes ringside serve ...)",
			base, strerror(-rc));
		return rc;
	}
	rc = empty_base(c);
	if (rc == 0)
		rc = enable_controllers(c);
	if (rc == -EBUSY)
		snprintf(ret_why, size,
			"other processes are in %s, where only the server may be (a service of its own, or: "
			"systemd-run --user --scope -p Delegate=yes ringside serve ...)",
			base);
	else if (rc < 0)
		snprintf(ret_why, size, "%s cannot be divided: %s", base, strerror(-rc));
	return rc;
}

/* Groups */

/* What of a limit there is is written; none is "max". */
static int write_limit(
	const struct cgroup *c, const char *name, const char *file, uint64_t limit, bool enabled)
{
	char text[32] = "max";
	if (limit > 0)
		snprintf(text, sizeof text, "%" PRIu64, limit);
	int rc = write_file(c, name, file, text);
	return enabled ? rc : 0;
}

static int limit(const struct cgroup *c, const char *name)
{
	const struct cgroup_limits *l = &c->limits;
	int rc = write_limit(c, name, "pids.max", l->tasks, l->tasks > 0);
	if (rc == 0)
		rc = write_limit(c, name, "memory.max", l->memory, l->memory > 0);
	/* Otherwise what is too much would be swapped out, at the cost of all. Without swap there is no such file. */
	if (rc == 0 && l->memory > 0)
		(void)write_file(c, name, "memory.swap.max", "0");
	return rc;
}

/* Remove a group and those below it, all without processes. Returns 0 or a negative errno. */
static int remove_empty(int parent_fd, const char *name, unsigned depth)
{
	if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	int rc = -errno;
	int fd = depth == DEPTH_MAX
		? -1
		: openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			remove_empty(fd, entry->d_name, depth + 1);
	if (dir)
		closedir(dir);
	return unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 ? 0 : rc;
}

static void remove_later(struct cgroup *c, const char *name, bool kill)
{
	struct leftover *l = calloc(1, sizeof *l);
	if (!l)
		return; /* the next server finds it empty */
	l->kill = kill;
	snprintf(l->name, sizeof l->name, "%s", name);
	DL_APPEND(c->leftovers, l);
}

static bool is_ours(const char *name)
{
	return strncmp(name, "session-", 8) == 0 || strncmp(name, "process-", 8) == 0 ||
		strncmp(name, "run-", 4) == 0;
}

/* What an earlier server has left: nothing, or what lives on under today's limits. */
static void adopt(struct cgroup *c)
{
	int fd = openat(c->base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (!is_ours(entry->d_name) || remove_empty(c->base_fd, entry->d_name, 0) == 0)
			continue;
		(void)limit(c, entry->d_name); /* what has a limit keeps it */
		if (strncmp(entry->d_name, "run-", 4) == 0)
			remove_later(c, entry->d_name, false);
	}
	if (dir)
		closedir(dir);
}

int cgroup_make(struct cgroup *c, const char *name, int *ret_fd)
{
	char path[PATH_MAX];
	if (mkdirat(c->base_fd, name, 0755) < 0)
		return -errno;
	int rc = limit(c, name);
	snprintf(path, sizeof path, "%s/cgroup.procs", name);
	int fd = rc < 0 ? rc : openat(c->base_fd, path, O_WRONLY | O_CLOEXEC);
	if (rc == 0 && fd < 0)
		rc = -errno;
	if (rc < 0)
		unlinkat(c->base_fd, name, AT_REMOVEDIR);
	else
		*ret_fd = fd;
	return rc;
}

void cgroup_kill(const struct cgroup *c, const char *name)
{
	(void)write_file(c, name, "cgroup.kill", "1");
}

void cgroup_remove(struct cgroup *c, const char *name, bool kill)
{
	if (kill)
		cgroup_kill(c, name);
	if (remove_empty(c->base_fd, name, 0) < 0)
		remove_later(c, name, kill);
}

void cgroup_sweep(struct cgroup *c)
{
	struct leftover *l, *next;
	if (!c)
		return;
	DL_FOREACH_SAFE (c->leftovers, l, next) {
		if (l->kill)
			cgroup_kill(c, l->name);
		if (remove_empty(c->base_fd, l->name, 0) < 0)
			continue;
		DL_DELETE(c->leftovers, l);
		free(l);
	}
}

int cgroup_open(const struct cgroup_limits *limits, struct cgroup **ret, char *ret_why, size_t size)
{
	char base[PATH_MAX];
	if (!find_base(base)) {
		snprintf(ret_why, size, "cgroup v2 is not mounted, or not for this server");
		return -ENOENT;
	}
	struct cgroup *c = calloc(1, sizeof *c);
	int fd = c ? open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0) {
		int rc = c ? -errno : -ENOMEM;
		snprintf(ret_why, size, "%s: %s", base, strerror(-rc));
		free(c);
		return rc;
	}
	c->base_fd = fd;
	c->limits = *limits;
	int rc = divide(c, base, ret_why, size);
	if (rc < 0) {
		cgroup_close(c);
		return rc;
	}
	adopt(c);
	*ret = c;
	return 0;
}

void cgroup_close(struct cgroup *c)
{
	struct leftover *l, *next;
	if (!c)
		return;
	cgroup_sweep(c);
	DL_FOREACH_SAFE (c->leftovers, l, next)
		free(l);
	close(c->base_fd);
	free(c);
}
