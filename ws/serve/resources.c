/*
 * What the server takes from the system: standard descriptors, its directory, its holder, descriptors. Without one of
 * the middle two it does not start, and says why on standard error; of descriptors it makes do with what it gets.
 */
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
#define DESCRIPTORS_UNKNOWN 1024u /* where the system does not tell */
#define DESCRIPTORS_MAX 1048576u
#define WATCHED_MAX 16384u   /* descriptors that the loop has room for from the start */
#define DESCRIPTORS_OURS 40u /* not for connections or sessions */
#define CONNECTIONS_MIN 8u
#define TLS_DESCRIPTORS 3u     /* of a WebSocket over TLS: its own, and the two ends of a pair */
#define RUNTIME_NAMES_MAX 256u /* of files below the runtime directory */

/* With a slash at its end, or "/.", a link would be followed before anybody could see that it is one. */
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

/* What is in a directory: whether anything, and whether that is a server's. */
static void look_into(const char *path, bool *ret_empty, bool *ret_served)
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
 * Make what has been opened ours alone. Whoever could write there may have: what is in it then is looked at by
 * people first. What others may read and no server has used is not closed to them: it may be / or a home.
 */
static int own_dir(const char *path, int fd)
{
	struct stat st;
	char link[32];
	bool empty, served;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) < 0)
		return serve_fail(path, strerror(errno));
	if (st.st_uid != geteuid())
		return serve_fail(path, "is not a directory of this user");
	look_into(link, &empty, &served);
	if ((st.st_mode & 022) != 0 && !empty)
		return serve_fail(path,
			"others can write to it: see what is in it, and make it yours alone (chmod 700)");
	if ((st.st_mode & 077) != 0 && !empty && !served)
		return serve_fail(path,
			"is open to others and has files that are not ours: take a directory of its own");
	/* Sessions of another user (--session-user) go through it, also under a server that starts no more of them. */
	if (served && (st.st_mode & 077) == 011)
		return 0;
	if ((st.st_mode & 077) != 0 && chmod(link, 0700) < 0)
		return serve_fail(path, strerror(errno));
	return 0;
}

/* Shells are told of files in it, wherever they are: by the name of what has been opened, not of what is there by now. */
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

/* Whether we are in a user namespace, where what is somebody's outside belongs to nobody (user_namespaces(7)). */
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

/* Whether a group is of our name and has nobody else, as many systems give each user one, and a umask of 002. */
static bool is_own_group(gid_t gid)
{
	const struct passwd *user = getpwuid(geteuid());
	const struct group *group = user && gid == user->pw_gid ? getgrgid(gid) : NULL;
	return group && strcmp(group->gr_name, user->pw_name) == 0 && !group->gr_mem[0];
}

/* Whether nobody but root and we can put something else in the place of what is in a directory. */
static bool is_kept(const char *path)
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

/* Whoever rules a directory above it can put another in its place, which we would serve when we are started again. */
static int check_way(const char *dir)
{
	char path[PATH_MAX], text[PATH_MAX + 64];
	snprintf(path, sizeof path, "%s", dir);
	while (strcmp(path, "/") != 0) {
		char *slash = strrchr(path, '/');
		slash[slash == path] = '\0';
		if (is_kept(path))
			continue;
		snprintf(text, sizeof text, "is in %s, where others can put another in its place",
			path);
		return serve_fail(dir, text);
	}
	return 0;
}

/* Shells are told of files in it in lines of their own, and sockets by a length that is bounded. */
static bool is_sound(const char *dir)
{
	for (const char *p = dir; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return dir[0] && strlen(dir) < PATH_MAX - RUNTIME_NAMES_MAX;
}

/* In the way of what is meant is no reason not to serve, but to be said. */
static void find_default_dir(char ret_dir[PATH_MAX])
{
	char text[256];
	const char *why = local_socket_default_dir(ret_dir);
	if (!why)
		return;
	snprintf(text, sizeof text, "%s: taken as not given", why);
	serve_fail("XDG_RUNTIME_DIR", text);
}

int resources_runtime_dir(const char *given, char ret_dir[PATH_MAX])
{
	if (given && !is_sound(given))
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
	int rc = own_dir(ret_dir, fd);
	if (rc == 0)
		rc = resolve_dir(ret_dir, fd);
	if (rc == 0)
		rc = check_way(ret_dir);
	close(fd);
	return rc;
}

const char *resources_credential(void)
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
	size_t room = PATH_MAX - (size_t)(name ? name + 1 - ret_path : 0);
	if (given)
		snprintf(ret_path, PATH_MAX, "%s", given);
	else if (!name || (size_t)snprintf(name + 1, room, "ringside-holder") >= room)
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
	/* Half of the descriptors are for connections, the other half for sessions, after what we need ourselves. */
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
		serve_fail("RINGSIDE_THREADS", "must be a number from 0 to 16: taken as not given");
		return workers_suitable();
	}
	return (unsigned)threads;
}

/* What is let in has to be there, by its real name. The texts live as long as the program. */
static int resolve_list(const struct serve_list *list, const char *runtime_dir, const char **ret)
{
	for (size_t i = 0; i < list->count; i++) {
		char *path = realpath(list->items[i], NULL);
		if (!path)
			return serve_fail(list->items[i], strerror(errno));
		if (isolation_is_below(path, runtime_dir)) {
			free(path);
			return serve_fail(
				list->items[i], "what is kept there is for the server alone");
		}
		ret[i] = path;
	}
	return 0;
}

/* Through it, to what is meant for others: nothing can be listed, and what is in there says whose it is. */
static int let_through(const char *runtime_dir, const struct bounds *b)
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
		return serve_fail("--session-user", "only root may start what is another user's");
	int rc = user_find(o->session_user, ret_user);
	if (rc == -ENOENT)
		return serve_fail("--session-user",
			"there is no such user: it takes a name that getent passwd knows");
	if (rc == -EPERM)
		return serve_fail("--session-user", "must not be root, nor of root's group");
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
	int rc = let_through(runtime_dir, b);
	if (rc < 0)
		return serve_fail(runtime_dir, strerror(-rc));
	if (bounds_can_reach(b, runtime_dir))
		return 0;
	return bounds_can_reach(b, "/")
		? serve_fail(runtime_dir,
			  "the user of --session-user cannot reach it: each directory on the way "
			  "has to let others through (chmod o+x), or take another one by "
			  "--runtime-dir")
		: serve_fail(b->holder,
			  "the user of --session-user cannot run it: each directory on the way has "
			  "to let others through (chmod o+x)");
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
			return serve_fail(
				o->workspace, "what is kept there is for the server alone");
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
			"a server of root's needs --session-user beside it: who is root in a room is "
			"root to the kernel");
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
		return serve_fail("--rlimits", "--tasks-max would bind no process of root");
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
