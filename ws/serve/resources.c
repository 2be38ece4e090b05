/*
 * What the server takes from the system: standard descriptors, its directory, its holder, descriptors. Without one of
 * the middle two it does not start, and says why on standard error; of descriptors it makes do with what it gets.
 */
#include "ws/serve/resources.h"

#include "shell/cgroup.h"
#include "ws/net/local_socket.h"
#include "shell/workers.h"
#include "ws/serve/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTORS_UNKNOWN 1024u /* where the system does not tell */
#define DESCRIPTORS_MAX 1048576u
#define DESCRIPTORS_OURS 40u /* not for connections or sessions */
#define CONNECTIONS_MIN 8u

void resources_open_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) != fd)
			abort(); /* there is nobody to tell */
}

/* Shells are told of files in it, wherever they are. */
static int resolve_dir(char dir[PATH_MAX])
{
	char *whole = realpath(dir, NULL);
	if (!whole || strlen(whole) >= PATH_MAX) {
		free(whole);
		return serve_fail(dir, "cannot be resolved");
	}
	snprintf(dir, PATH_MAX, "%s", whole);
	free(whole);
	return 0;
}

int resources_runtime_dir(const char *given, char ret_dir[PATH_MAX])
{
	struct stat st;
	if (given)
		snprintf(ret_dir, PATH_MAX, "%s", given);
	else
		local_socket_default_dir(ret_dir);
	if (mkdir(ret_dir, 0700) < 0 && errno != EEXIST)
		return serve_fail(ret_dir, strerror(errno));
	if (lstat(ret_dir, &st) < 0)
		return serve_fail(ret_dir, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return serve_fail(ret_dir, "is not a directory of this user");
	if ((st.st_mode & 077) != 0 && chmod(ret_dir, 0700) < 0)
		return serve_fail(ret_dir, strerror(errno));
	return resolve_dir(ret_dir);
}

int resources_holder(char ret_path[PATH_MAX])
{
	const char *given = getenv("RINGSIDE_HOLDER");
	if (given) {
		snprintf(ret_path, PATH_MAX, "%s", given);
	} else {
		ssize_t n = readlink("/proc/self/exe", ret_path, PATH_MAX - sizeof "-holder");
		if (n < 0)
			return serve_fail("/proc/self/exe", strerror(errno));
		snprintf(ret_path + n, PATH_MAX - (size_t)n, "-holder");
	}
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

unsigned resources_connections(unsigned wanted, unsigned descriptors)
{
	/* Half of the descriptors are for connections, the other half for sessions, after what we need ourselves. */
	unsigned possible = descriptors > DESCRIPTORS_OURS + 2 * CONNECTIONS_MIN
		? (descriptors - DESCRIPTORS_OURS) / 2
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
	if (*end || *given == '-' || threads > WORKERS_MAX) {
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

int resources_isolation(const struct serve_options *o, const char *runtime_dir, const char *holder,
	struct isolation **ret)
{
	static const char *writable[SERVE_LIST_MAX], *readable[SERVE_LIST_MAX];
	char why[512], home[PATH_MAX];
	const char *given = getenv("HOME");
	if (!o->isolate)
		return 0;
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
		.holder = holder,
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
	if (o->rlimits && limits.tasks > 0 && geteuid() == 0)
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
