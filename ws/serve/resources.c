/* If a resource is missing, the server does not start. Only the number of descriptors may be smaller than wanted. */
#include "ws/serve/resources.h"

#include "ring/utf8.h"
#include "shell/cgroup.h"
#include "shell/store/directory.h"
#include "ws/net/local_socket.h"
#include "shell/workers.h"
#include "ws/serve/fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define OVERFLOW_UID 65534u       /* proc_sys_kernel(5) */
#define DESCRIPTORS_UNKNOWN 1024u /* if getrlimit(2) fails */
#define DESCRIPTORS_MAX 1048576u
#define WATCHED_MAX 16384u   /* descriptors in the loop's initial table */
#define DESCRIPTORS_OURS 40u /* not for connections or sessions */
#define CONNECTIONS_MIN 8u
#define TLS_DESCRIPTORS 3u     /* of a WebSocket over TLS: the connection, and a socket pair */
#define RUNTIME_NAMES_MAX 256u /* of files below the runtime directory */

/* Remove "/" and "/." at the end, with which O_NOFOLLOW would follow a symbolic link. */
static void cut_slashes(char *path)
{
	size_t length = strlen(path);
	for (;;) {
		if (length > 1 && path[length - 1] == '/')
			length--;
		else if (length > 2 && path[length - 1] == '.' && path[length - 2] == '/')
			length--;
		else
			break;
	}
	path[length] = '\0';
}

/* Check whether a directory is empty, and whether a server has used it. */
static void inspect_dir(const char *path, bool *ret_empty, bool *ret_served)
{
	unsigned entries = 0, ours = 0;
	DIR *dir = opendir(path);
	for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
		entries += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
		ours += strcmp(e->d_name, "lock") == 0 || strcmp(e->d_name, "sessions") == 0;
	}
	*ret_empty = dir && entries == 0;
	*ret_served = ours == 2;
	if (dir)
		closedir(dir);
}

/*
 * Close an opened directory to other users. Refused are directories with files that other users could have written, and
 * directories that are open to others and were never a server's, such as / or a home.
 */
static int close_dir_to_others(const char *path, int fd)
{
	struct stat st;
	char link[32];
	bool empty, served;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) < 0)
		return serve_fail(path, strerror(errno));
	if (st.st_uid != geteuid())
		return serve_fail(path, "is not a directory of this user");
	inspect_dir(link, &empty, &served);
	if ((st.st_mode & 022) != 0 && !empty)
		return serve_fail(path,
			"others can write to it: check its contents, then close it to others (chmod 700)");
	if ((st.st_mode & 077) != 0 && !empty && !served)
		return serve_fail(path,
			"is open to others and has files that are not ours: use another directory");
	/* Existing sessions of --session-user traverse it, even if this server has no such option. */
	if (served && (st.st_mode & 077) == 011)
		return 0;
	if ((st.st_mode & 077) != 0 && chmod(link, 0700) < 0)
		return serve_fail(path, strerror(errno));
	return 0;
}

/* Get the absolute path of the opened directory, for shells. The path may refer to another directory by now. */
static int resolve_dir(char dir[PATH_MAX], int fd)
{
	char link[32], whole[PATH_MAX];
	struct stat opened, there;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, whole, sizeof whole - 1);
	if (n <= 0 || n == sizeof whole - 1)
		return serve_fail(dir, "cannot be resolved");
	whole[n] = '\0';
	if (fstat(fd, &opened) < 0 || lstat(whole, &there) < 0 || opened.st_dev != there.st_dev ||
		opened.st_ino != there.st_ino)
		return serve_fail(dir, "is being replaced");
	snprintf(dir, PATH_MAX, "%s", whole);
	return 0;
}

/* Whether we are in a user namespace, where files of unmapped users belong to OVERFLOW_UID (user_namespaces(7)). */
static bool is_mapped(void)
{
	char line[64] = "";
	FILE *f = fopen("/proc/self/uid_map", "re");
	if (!f)
		return false;
	char *at = fgets(line, sizeof line, f);
	fclose(f);
	unsigned long inside = at ? strtoul(at, &at, 10) : 0;
	unsigned long outside = at ? strtoul(at, &at, 10) : 0;
	unsigned long count = at ? strtoul(at, NULL, 10) : 0;
	return inside != 0 || outside != 0 || count != UINT32_MAX;
}

/* Whether a group is the private group of our user: many systems create one for each user, with a umask of 002. */
static bool is_own_group(gid_t gid)
{
	const struct passwd *user = getpwuid(geteuid());
	const struct group *group = user && gid == user->pw_gid ? getgrgid(gid) : NULL;
	return group && strcmp(group->gr_name, user->pw_name) == 0 && !group->gr_mem[0];
}

/* Whether only root and our user can replace entries of a directory that belong to them. */
static bool is_protected(const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return false;
	bool ours = st.st_uid == 0 || st.st_uid == geteuid() ||
		(st.st_uid == OVERFLOW_UID && is_mapped());
	bool closed = (st.st_mode & S_IWOTH) == 0 &&
		((st.st_mode & S_IWGRP) == 0 || is_own_group(st.st_gid));
	return ours && (closed || (st.st_mode & S_ISVTX) != 0);
}

/* Check that no other user can replace the directory by one that the next server would use. */
static int check_parents(const char *dir)
{
	char path[PATH_MAX], text[PATH_MAX + 64];
	snprintf(path, sizeof path, "%s", dir);
	while (strcmp(path, "/") != 0) {
		char *slash = strrchr(path, '/');
		slash[slash == path] = '\0';
		if (is_protected(path))
			continue;
		snprintf(text, sizeof text, "is in %s, where another user can replace it", path);
		return serve_fail(dir, text);
	}
	return 0;
}

/* Whether a path has no control characters, which lines for shells cannot contain, and space for names of files below. */
static bool is_valid_path(const char *dir)
{
	for (const char *p = dir; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return dir[0] && strlen(dir) < PATH_MAX - RUNTIME_NAMES_MAX;
}

/* If $XDG_RUNTIME_DIR cannot be used, print a warning and use the fallback. */
static void find_default_dir(char ret_dir[PATH_MAX])
{
	char text[256];
	const char *why = local_socket_default_dir(ret_dir);
	if (!why)
		return;
	snprintf(text, sizeof text, "%s: ignored", why);
	serve_fail("XDG_RUNTIME_DIR", text);
}

int resources_runtime_dir(const char *given, char ret_dir[PATH_MAX])
{
	if (given && !is_valid_path(given))
		return serve_fail(given,
			"cannot be a runtime directory: its name is empty, too long, or has control characters");
	if (given)
		snprintf(ret_dir, PATH_MAX, "%s", given);
	else
		find_default_dir(ret_dir);
	cut_slashes(ret_dir);
	if (mkdir(ret_dir, 0700) < 0 && errno != EEXIST)
		return serve_fail(ret_dir, strerror(errno));
	int fd = open(ret_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return serve_fail(ret_dir,
			errno == ENOTDIR || errno == ELOOP ? "is not a directory of this user"
							   : strerror(errno));
	int rc = close_dir_to_others(ret_dir, fd);
	if (rc == 0)
		rc = resolve_dir(ret_dir, fd);
	if (rc == 0)
		rc = check_parents(ret_dir);
	close(fd);
	return rc;
}

const char *resources_token_file(void)
{
	static char path[PATH_MAX];
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	if (!dir || snprintf(path, sizeof path, "%s/ringside.token", dir) >= PATH_MAX)
		return NULL;
	return access(path, R_OK) == 0 ? path : NULL;
}

int resources_holder(char ret_path[PATH_MAX])
{
	const char *given = getenv("RINGSIDE_HOLDER");
	ssize_t n = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
	if (n < 0 && !given)
		return serve_fail("/proc/self/exe", strerror(errno));
	ret_path[n < 0 ? 0 : n] = '\0';
	char *name = strrchr(ret_path, '/');
	size_t space = PATH_MAX - (size_t)(name ? name + 1 - ret_path : 0);
	if (given)
		snprintf(ret_path, PATH_MAX, "%s", given);
	else if (!name || (size_t)snprintf(name + 1, space, "ringside-holder") >= space)
		return serve_fail(ret_path, strerror(ENAMETOOLONG));
	return access(ret_path, X_OK) < 0 ? serve_fail(ret_path, strerror(errno)) : 0;
}

unsigned resources_raise_descriptors(long *ret_before)
{
	struct rlimit limit;
	*ret_before = 0;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return DESCRIPTORS_UNKNOWN;
	*ret_before = (long)limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max > DESCRIPTORS_MAX ? DESCRIPTORS_MAX : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return (unsigned)*ret_before;
	return (unsigned)limit.rlim_cur;
}

static void on_never(uv_poll_t *poll, int status, int events)
{
	(void)poll, (void)status, (void)events;
}

static void on_closed(uv_handle_t *poll)
{
	free(poll);
}

void resources_prepare_loop(uv_loop_t *loop, unsigned descriptors)
{
	unsigned most = descriptors < WATCHED_MAX ? descriptors : WATCHED_MAX;
	uv_poll_t *poll = malloc(sizeof *poll);
	int fd = eventfd(0, EFD_CLOEXEC), high = fcntl(fd, F_DUPFD_CLOEXEC, (int)most - 1);
	if (poll && high >= 0 && uv_poll_init(loop, poll, high) == 0) {
		uv_poll_start(poll, UV_READABLE, on_never);
		uv_close((uv_handle_t *)poll, on_closed);
	} else {
		free(poll);
	}
	if (high >= 0)
		close(high);
	if (fd >= 0)
		close(fd);
}

unsigned resources_connections(unsigned wanted, unsigned descriptors, bool tls)
{
	/* After our own descriptors, half are for connections and half for sessions. */
	unsigned share = tls ? 2 * TLS_DESCRIPTORS : 2;
	unsigned possible = descriptors > DESCRIPTORS_OURS + share * CONNECTIONS_MIN
		? (descriptors - DESCRIPTORS_OURS) / share
		: CONNECTIONS_MIN;
	return wanted < possible ? wanted : possible;
}

unsigned resources_threads(void)
{
	const char *given = getenv("RINGSIDE_THREADS");
	char *end;
	if (!given || !*given)
		return workers_suitable();
	unsigned long threads = strtoul(given, &end, 10);
	if (*end || *given < '0' || *given > '9' || threads > WORKERS_MAX) {
		serve_fail("RINGSIDE_THREADS", "must be a number from 0 to 16: ignored");
		return workers_suitable();
	}
	return (unsigned)threads;
}

/* Resolve the paths of --bind or --ro-bind. They are never freed. */
static int resolve_list(const struct serve_list *list, const char *runtime_dir, const char **ret)
{
	for (size_t i = 0; i < list->count; i++) {
		char *path = realpath(list->items[i], NULL);
		if (!path)
			return serve_fail(list->items[i], strerror(errno));
		if (isolation_is_below(path, runtime_dir)) {
			free(path);
			return serve_fail(list->items[i],
				"is in the runtime directory, which is for the server alone");
		}
		ret[i] = path;
	}
	return 0;
}

/* Let the session user traverse the runtime directory, but not list it. */
static int let_traverse(const char *runtime_dir, const struct bounds *b)
{
	int fd = open(runtime_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = fd < 0 ? -errno : bounds_allow_traverse(b, fd);
	if (fd >= 0)
		close(fd);
	return rc;
}

int resources_find_user(const struct serve_options *o, struct user *ret_user, struct bounds *ret)
{
	if (!o->session_user)
		return 0;
	if (geteuid() != 0)
		return serve_fail("--session-user", "only root can start processes of another user");
	int rc = user_find(o->session_user, ret_user);
	if (rc == -ENOENT)
		return serve_fail("--session-user",
			"there is no such user: must be a name from getent passwd");
	if (rc == -EPERM)
		return serve_fail("--session-user", "must not be root or in root's group");
	if (rc < 0)
		return serve_fail("--session-user", strerror(-rc));
	ret->user = ret_user;
	return 0;
}

int resources_admit_user(const char *runtime_dir, const struct bounds *b)
{
	if (!b->user)
		return 0;
	user_set_environment(b->user);
	int rc = let_traverse(runtime_dir, b);
	if (rc < 0)
		return serve_fail(runtime_dir, strerror(-rc));
	if (bounds_can_reach(b, runtime_dir))
		return 0;
	return bounds_can_reach(b, "/")
		? serve_fail(runtime_dir,
			  "the user of --session-user cannot reach it: run chmod o+x on the "
			  "directories above it, or choose another one by --runtime-dir")
		: serve_fail(b->holder,
			  "the user of --session-user cannot run it: run chmod o+x on the "
			  "directories above it");
}

int resources_workspace(const struct serve_options *o, const char *runtime_dir,
	const struct bounds *bounds, char ret_dir[PATH_MAX])
{
	if (!o->workspace && bounds->user)
		snprintf(ret_dir, PATH_MAX, "%s", bounds->user->home);
	else if (!o->workspace && !getcwd(ret_dir, PATH_MAX))
		return serve_fail("working directory", strerror(errno));
	if (o->workspace) {
		if (!realpath(o->workspace, ret_dir))
			return serve_fail(o->workspace, strerror(errno));
		int rc = directory_check(ret_dir);
		if (rc < 0)
			return serve_fail(o->workspace, strerror(-rc));
		if (isolation_is_below(ret_dir, runtime_dir))
			return serve_fail(o->workspace,
				"is in the runtime directory, which is for the server alone");
	}
	if (utf8_is_valid_string(ret_dir))
		return 0;
	return serve_fail(
		o->workspace ? "--workspace" : "working directory", "its name must be UTF-8");
}

int resources_isolation(const struct serve_options *o, const char *runtime_dir,
	const struct bounds *bounds, struct isolation **ret)
{
	static const char *writable[SERVE_LIST_MAX], *readable[SERVE_LIST_MAX];
	char why[512], home[PATH_MAX];
	const char *given = getenv("HOME");
	if (!o->isolate)
		return 0;
	if (bounds_owner(bounds) == 0)
		return serve_fail("--isolate",
			"a server of root requires --session-user too: root in a sandbox is root to "
			"the kernel");
	if (resolve_list(&o->writable, runtime_dir, writable) < 0 ||
		resolve_list(&o->readable, runtime_dir, readable) < 0)
		return -1;
	struct isolation_options options = {
		.profile = o->isolate[0] ? o->isolate : ISOLATION_PROFILE_DEFAULT,
		.share_net = o->share_net,
		.writable = writable,
		.writable_count = o->writable.count,
		.readable = readable,
		.readable_count = o->readable.count,
		.runtime_dir = runtime_dir,
		.holder = bounds->holder,
		.user = bounds->user,
		.home = given && realpath(given, home) ? home : NULL,
	};
	return isolation_open(&options, ret, why, sizeof why) < 0 ? serve_fail("--isolate", why) : 0;
}

int resources_limits(const struct serve_options *o, struct bounds *ret)
{
	const struct cgroup_limits limits = {.tasks = o->tasks_max, .memory = o->memory_max};
	char why[PATH_MAX + 256], what[PATH_MAX + 512];
	if (limits.tasks == 0 && limits.memory == 0)
		return 0;
	if (o->rlimits && limits.tasks > 0 && bounds_owner(ret) == 0)
		return serve_fail("--rlimits", "--tasks-max has no effect on processes of root");
	if (o->rlimits) {
		ret->tasks = limits.tasks;
		ret->memory = limits.memory;
		return 0;
	}
	if (cgroup_open(&limits, &ret->cgroup, why, sizeof why) == 0)
		return 0;
	snprintf(what, sizeof what, "%s; see --rlimits", why);
	return serve_fail(limits.tasks > 0 ? "--tasks-max" : "--memory-max", what);
}
