/*
 * See isolation.h. bwrap applies its arguments in order: first the profile, then the owner's binds; last, the runtime
 * directory is hidden even if a parent of it was bound.
 */
#include "shell/isolation.h"

#include "pty/enter.h"
#include "pty/starter.h"
#include "shell/environment.h"
#include "shell/isolation_filter.h"
#include "shell/program.h"
#include "shell/user.h"
#include "shell/words.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX (160u + 3u * 2u * ISOLATION_BINDS_MAX)
#define TMPFS_SIZE "268435456" /* bytes of each empty directory */
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

extern char **environ;

struct isolation {
	char *words[WORDS_MAX]; /* common to all sandboxes */
	size_t count;
	char *home;
	char *runtime_dir;
	char *holder;
	int filter_fd;
};

struct words {
	char **list;
	size_t count;
	bool failed;
};

static void put(struct words *w, const char *word)
{
	char *copy = w->count < WORDS_MAX - 1 ? strdup(word) : NULL;
	if (!copy) {
		w->failed = true;
		return;
	}
	w->list[w->count++] = copy;
	w->list[w->count] = NULL;
}

static void put_all(struct words *w, const char *const *words)
{
	for (; *words; words++)
		put(w, *words);
}

#define PUT(w, ...) put_all(w, (const char *const[]){__VA_ARGS__, NULL})

static void put_empty(struct words *w, const char *path)
{
	PUT(w, "--size", TMPFS_SIZE, "--tmpfs", path);
}

static void put_namespaces(struct words *w, bool share_net)
{
	PUT(w, "--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc",
		"--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL", "--seccomp",
		TEXT(ISOLATION_FILTER_FD));
	if (!share_net)
		put(w, "--unshare-net");
		/* Addresses of servers that are absent in the sandbox, or that belong to another session. */
#define GONE(prefix)                                                                          \
	{                                                                                     \
		prefix "TMPDIR", prefix "XDG_RUNTIME_DIR", prefix "DBUS_SESSION_BUS_ADDRESS", \
			prefix "SSH_AUTH_SOCK", prefix "DISPLAY", prefix "WAYLAND_DISPLAY",   \
			prefix "XAUTHORITY"                                                   \
	}
	static const char *const gone[] = GONE(""), *const hidden[] = GONE(ENTER_HIDDEN_PREFIX);
	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		PUT(w, "--unsetenv", gone[i], "--unsetenv", hidden[i]);
}

static void put_private(struct words *w, const char *home)
{
	static const char *const tops[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
		"/libx32", "/etc", "/opt", "/nix"};
	for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
		PUT(w, "--ro-bind-try", tops[i], tops[i]);
	put_empty(w, "/var/tmp");
	PUT(w, "--symlink", "../run", "/var/run");
	if (home)
		put_empty(w, home);
}

/* Kernel settings are read-only for every user. */
static void put_kernel(struct words *w)
{
	static const char *const settings[] = {
		"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"};
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		PUT(w, "--ro-bind-try", settings[i], settings[i]);
}

static int put_files(struct words *w, const struct isolation_options *o)
{
	const char *home = o->home && strcmp(o->home, "/") != 0 ? o->home : NULL;
	bool private = strcmp(o->profile, "private") == 0;
	bool writable_home = strcmp(o->profile, "home") == 0;
	if (!private && !writable_home && strcmp(o->profile, "system") != 0)
		return -EINVAL;
	if (!private)
		PUT(w, "--ro-bind", "/", "/");
	PUT(w, "--proc", "/proc", "--dev", "/dev");
	put_kernel(w);
	put_empty(w, "/tmp");
	put_empty(w, "/run");
	if (private)
		put_private(w, home);
	else if (writable_home && home)
		PUT(w, "--bind-try", home, home);
	if (o->share_net)
		PUT(w, "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve");
	return 0;
}

static int put_lists(struct words *w, const struct isolation_options *o)
{
	if (o->readable_count > ISOLATION_BINDS_MAX || o->writable_count > ISOLATION_BINDS_MAX)
		return -E2BIG;
	for (size_t i = 0; i < o->readable_count; i++)
		PUT(w, "--ro-bind", o->readable[i], o->readable[i]);
	for (size_t i = 0; i < o->writable_count; i++)
		PUT(w, "--bind", o->writable[i], o->writable[i]);
	return 0;
}

static bool start(struct words *w)
{
	*w = (struct words){.list = calloc(WORDS_MAX, sizeof(char *))};
	return w->list != NULL;
}

static void put_common(const struct isolation *i, struct words *w)
{
	for (size_t k = 0; k < i->count; k++)
		put(w, i->words[k]);
}

/* Start a list with the common words. */
static bool begin(const struct isolation *i, struct words *w)
{
	if (!start(w))
		return false;
	put_common(i, w);
	return true;
}

static char **finish(struct words *w)
{
	if (!w->failed)
		return w->list;
	words_free(w->list);
	return NULL;
}

char **isolation_wrap_starter(
	const struct isolation *i, const char *directory, const char *cwd, bool respawn)
{
	struct words w;
	if (!begin(i, &w))
		return NULL;
	/* The starter is pid 1 of the sandbox, so no process inside can kill it. */
	char shell[PATH_MAX];
	if ((size_t)snprintf(shell, sizeof shell, "%s/shell", directory) >= sizeof shell)
		w.failed = true;
	PUT(&w, "--ro-bind", shell, shell, "--ro-bind", i->holder, ISOLATION_HOLDER, "--remount-ro",
		i->runtime_dir, "--chdir", "/", "--as-pid-1", "--", ISOLATION_HOLDER,
		STARTER_OPTION, "--directory", directory, "--cwd", cwd);
	if (respawn)
		put(&w, "--respawn");
	put(&w, "--");
	return finish(&w);
}

char **isolation_wrap_command(const struct isolation *i, const char *cwd)
{
	struct words w;
	if (!begin(i, &w))
		return NULL;
	PUT(&w, "--ro-bind", i->holder, ISOLATION_HOLDER, "--remount-ro", i->runtime_dir, "--chdir",
		cwd, "--", ISOLATION_HOLDER, ENTER_OPTION, "--show", "--", "bash");
	return finish(&w);
}

int isolation_filter(const struct isolation *i)
{
	return i->filter_fd;
}

bool isolation_is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);
	return strncmp(path, directory, length) == 0 && (path[length] == '/' || !path[length]);
}

/* The last mount on the directory or on a parent of it decides whether it is the machine's. */
const char *isolation_default_directory(const struct isolation *i, const char *directory)
{
	bool seen = false;
	for (size_t k = 0; k + 1 < i->count; k++) {
		bool empty = strcmp(i->words[k], "--tmpfs") == 0;
		bool bound = strcmp(i->words[k], "--bind") == 0 ||
			strcmp(i->words[k], "--ro-bind") == 0 ||
			strcmp(i->words[k], "--bind-try") == 0 ||
			strcmp(i->words[k], "--ro-bind-try") == 0;
		const char *place = i->words[k + 1];
		if ((empty || bound) &&
			(strcmp(place, "/") == 0 || isolation_is_below(directory, place)))
			seen = bound;
	}
	return seen ? directory : i->home;
}

bool isolation_may_contain(const struct isolation *i, const char *directory)
{
	char *real = realpath(directory, NULL);
	bool plain = real && strcmp(real, directory) == 0;
	free(real);
	if (!plain || isolation_default_directory(i, directory) == directory)
		return true;
	/* Mount points, and the directories that lead to them, exist too. */
	for (size_t k = 1; k < i->count; k++)
		if (i->words[k][0] == '/' && isolation_is_below(i->words[k], directory))
			return true;
	return strcmp(directory, "/") == 0;
}

void isolation_close(struct isolation *i)
{
	if (!i)
		return;
	for (size_t k = 0; k < i->count; k++)
		free(i->words[k]);
	if (i->filter_fd >= 0)
		close(i->filter_fd);
	free(i->home);
	free(i->runtime_dir);
	free(i->holder);
	free(i);
}

/* Run a command in a sandbox and capture its output's first line. Returns its wait status, or -1. */
static int run_once(const struct isolation *i, char **words, char *const *environment,
	char *ret_text, size_t size)
{
	posix_spawn_file_actions_t actions;
	int fds[2], status = -1;
	char filter[32];
	pid_t pid;
	size_t length = 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	snprintf(filter, sizeof filter, "/proc/self/fd/%d", i->filter_fd);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
	posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
	posix_spawn_file_actions_addopen(&actions, ISOLATION_FILTER_FD, filter, O_RDONLY, 0);
	bool started = posix_spawn(&pid, words[0], &actions, NULL, words, environment) == 0;
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	for (ssize_t n; started && (n = read(fds[0], ret_text + length, size - 1 - length)) > 0;)
		length += (size_t)n;
	ret_text[length] = '\0';
	ret_text[strcspn(ret_text, "\n")] = '\0';
	close(fds[0]);
	while (started && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return started ? status : -1;
}

static void put_user(struct words *w, const struct isolation *i, const struct user *user)
{
	const char *words[USER_WORDS];
	user_words(user, words);
	PUT(w, i->holder, ENTER_OPTION);
	for (size_t k = 0; k < USER_WORDS; k++)
		put(w, words[k]);
	put(w, "--");
}

/* Check that a sandbox works: the kernel or the administrator may not allow it. */
static int try_once(const struct isolation *i, const struct user *user, char *ret_why, size_t size)
{
	struct words w;
	char text[256] = "";
	if (!start(&w))
		return -ENOMEM;
	if (user)
		put_user(&w, i, user);
	put_common(i, &w);
	PUT(&w, "--as-pid-1", "--chdir", "/", "--", "bash", "-c", ":");
	char **list = finish(&w);
	if (!list)
		return -ENOMEM;
	char **hidden = user ? user_hide_environment(environ) : NULL;
	int status = user && !hidden ? -1
				     : run_once(i, list, user ? hidden : environ, text, sizeof text);
	words_free(hidden);
	words_free(list);
	if (status == 0)
		return 0;
	snprintf(ret_why, size, "bubblewrap does not work here: %s",
		text[0] ? text : "it exits without output");
	return -EPERM;
}

static int prepare(struct isolation *i, const struct isolation_options *o, char *why, size_t size)
{
	struct words w = {.list = i->words};
	char bwrap[PATH_MAX];
	const char *path = getenv("PATH");
	if (!program_find(path ? path : "/usr/bin:/bin", "bwrap", bwrap)) {
		snprintf(why, size, "bubblewrap is not installed (apt install bubblewrap)");
		return -ENOENT;
	}
	i->runtime_dir = strdup(o->runtime_dir);
	i->holder = realpath(o->holder, NULL);
	i->home = strdup(o->home ? o->home : "/");
	int rc = i->runtime_dir && i->holder && i->home ? isolation_filter_make() : -errno;
	if (rc < 0) {
		snprintf(why, size, "%s", strerror(-rc));
		return rc;
	}
	i->filter_fd = rc;
	put(&w, bwrap);
	put_namespaces(&w, o->share_net);
	rc = put_files(&w, o);
	if (rc < 0)
		snprintf(why, size, "there is no profile \"%s\": use private, system or home",
			o->profile);
	if (rc == 0 && (rc = put_lists(&w, o)) < 0)
		snprintf(why, size, "more than %u directories", ISOLATION_BINDS_MAX);
	PUT(&w, "--tmpfs", i->runtime_dir);
	i->count = w.count;
	return rc < 0 ? rc : w.failed ? -ENOMEM : 0;
}

int isolation_open(
	const struct isolation_options *o, struct isolation **ret, char *ret_why, size_t size)
{
	struct isolation *i = calloc(1, sizeof *i);
	snprintf(ret_why, size, "%s", strerror(ENOMEM));
	if (!i)
		return -ENOMEM;
	i->filter_fd = -1;
	int rc = prepare(i, o, ret_why, size);
	if (rc == 0)
		rc = try_once(i, o->user, ret_why, size);
	if (rc == 0)
		*ret = i;
	else
		isolation_close(i);
	return rc;
}
