/*
 * See cgroup.h. A group that distributes controllers to its children must have no processes itself (cgroups(7), "no
 * internal processes"): hence BASE/server. systemd restarts a service in BASE (in BASE/server with DelegateSubgroup=,
 * release 254), so the units disable the controllers in between, which loses the limits: they are written again at each
 * start.
 */
#include "shell/cgroup.h"

#include "shell/dir.h"

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
#define TEXT_MAX ((size_t)1 << 20) /* of a kernel file */
#define ROUNDS_MAX 100u /* passes over the base, as its processes may fork while they are moved */
#define DEPTH_MAX 16u   /* of groups that a session has created below its own */

/* A group that is yet to be removed. */
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

/* Kernel files */

/* The contents of a file, owned by the caller; NULL if it cannot be read. */
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

/* Write with one write(2), as these files require. group: "" for the base. */
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

/* The base */

/* Parse a line of mountinfo, see proc(5): field 4 is the root, 5 the mount point; the type follows " - ". */
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

/* The path after "0::", which is the v2 hierarchy's. */
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

/* Find the base: the server's group, or its parent if an earlier start has moved the server to BASE/server. */
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

/* Setting up the base */

static bool is_delegated(const struct cgroup *c)
{
	char value = '0';
	return (fgetxattr(c->base_fd, "user.delegate", &value, 1) == 1 ||
		       fgetxattr(c->base_fd, "trusted.delegate", &value, 1) == 1) &&
		value == '1';
}

/* Move one process to BASE/server. One that has ended meanwhile is no error. */
static int move(const struct cgroup *c, const char *pid)
{
	int rc = write_file(c, SERVER, "cgroup.procs", pid);
	return rc == -ESRCH ? 0 : rc;
}

/* Whether the base contains processes other than this one. */
static bool has_other_processes(const struct cgroup *c)
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

/* Move all processes of the base. Returns how many there were, or a negative errno. */
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

/* Move all processes out of the base. Other processes than this one must not be moved unless it is delegated. */
static int empty_base(const struct cgroup *c)
{
	if (!is_delegated(c) && has_other_processes(c)) {
		unlinkat(c->base_fd, SERVER, AT_REMOVEDIR); /* as it was before */
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

/* Check that the controllers for the limits are available; otherwise ret_why says which is not. */
static int check_controllers(const struct cgroup *c, const char *base, char *ret_why, size_t size)
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

static int set_up_base(struct cgroup *c, const char *base, char *ret_why, size_t size)
{
	int rc = check_controllers(c, base, ret_why, size);
	if (rc < 0)
		return rc;
	if (mkdirat(c->base_fd, SERVER, 0755) < 0 && errno != EEXIST) {
		rc = -errno;
		snprintf(ret_why, size,
			"%s is not delegated to this server: %s (use a service with Delegate=yes, or: "
			"systemd-run --user --scope -p Delegate=yes ringside serve ...)",
			base, strerror(-rc));
		return rc;
	}
	rc = empty_base(c);
	if (rc == 0)
		rc = enable_controllers(c);
	if (rc == -EBUSY)
		snprintf(ret_why, size,
			"other processes are in %s, which must contain only the server (use a service of its own, or: "
			"systemd-run --user --scope -p Delegate=yes ringside serve ...)",
			base);
	else if (rc < 0)
		snprintf(ret_why, size, "cannot set up control groups in %s: %s", base,
			strerror(-rc));
	return rc;
}

/* Groups */

/* Write one limit; 0 is "max". An error counts only if the limit is enabled. */
static int write_limit(
	const struct cgroup *c, const char *name, const char *file, uint64_t limit, bool enabled)
{
	char text[32] = "max";
	if (limit > 0)
		snprintf(text, sizeof text, "%" PRIu64, limit);
	int rc = write_file(c, name, file, text);
	return enabled ? rc : 0;
}

static int set_limits(const struct cgroup *c, const char *name)
{
	const struct cgroup_limits *l = &c->limits;
	int rc = write_limit(c, name, "pids.max", l->tasks, l->tasks > 0);
	if (rc == 0)
		rc = write_limit(c, name, "memory.max", l->memory, l->memory > 0);
	/* Without this, memory beyond the limit is swapped out. The file is absent without swap. */
	if (rc == 0 && l->memory > 0)
		(void)write_file(c, name, "memory.swap.max", "0");
	return rc;
}

/* Remove a group and the groups below it, if they have no processes. Returns 0 or a negative errno. */
static int remove_empty(int parent_fd, const char *name, unsigned depth)
{
	if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	int rc = -errno;
	DIR *dir = depth == DEPTH_MAX ? NULL : dir_open(parent_fd, name);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			remove_empty(dirfd(dir), entry->d_name, depth + 1);
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

/* Handle the groups of an earlier server: remove the empty ones, set today's limits on the rest. */
static void adopt_groups(struct cgroup *c)
{
	DIR *dir = dir_open(c->base_fd, ".");
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (!is_ours(entry->d_name) || remove_empty(c->base_fd, entry->d_name, 0) == 0)
			continue;
		(void)set_limits(c, entry->d_name); /* on failure it keeps its old limit */
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
	int rc = set_limits(c, name);
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
	int rc = set_up_base(c, base, ret_why, size);
	if (rc < 0) {
		cgroup_close(c);
		return rc;
	}
	adopt_groups(c);
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
