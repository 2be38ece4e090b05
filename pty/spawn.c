/* See spawn.h. The holder's descriptors have fixed numbers, from 3 on. */
#include "pty/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOLDER_REPORT_FD 4
#define FIXED_ARGS 40
#define SHELL_ARGS_MAX 64
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

/* Our copies of the descriptors for the holder; -1: none. */
struct ends {
	const struct spawn_options *options;
	int dir, report, group;
};

/* Numbers of the command line, as text. */
struct numbers {
	char rows[16], cols[16], ring[24], control[24], ttl[16], nofile[24], tasks[24], memory[24],
		owner[24];
};

int spawn_wrap(char **argv, char *const *wrapper)
{
	int count = 0;
	while (wrapper && wrapper[count]) {
		if (count == SPAWN_WRAPPER_MAX)
			return -E2BIG;
		argv[count] = wrapper[count];
		count++;
	}
	return count;
}

/* Build argv of the holder, which points into *n. Returns 0 or -E2BIG. */
static int build_argv(const struct spawn_options *o, struct numbers *n, char **argv)
{
	size_t i = 0;
	snprintf(n->rows, sizeof n->rows, "%u", o->rows);
	snprintf(n->cols, sizeof n->cols, "%u", o->cols);
	snprintf(n->ring, sizeof n->ring, "%zu", o->ring_size);
	snprintf(n->control, sizeof n->control, "%zu", o->control_size);
	snprintf(n->ttl, sizeof n->ttl, "%u", o->ttl_s);
	snprintf(n->nofile, sizeof n->nofile, "%ld", o->nofile);
	snprintf(n->owner, sizeof n->owner, "%u", (unsigned)o->owner);
	const char *const fixed[] = {"ringside-holder", "--dir-fd", "3", "--report-fd", "4",
		"--rows", n->rows, "--cols", n->cols, "--ring-size", n->ring, "--control-size",
		n->control, "--ttl", n->ttl, "--nofile", n->nofile, "--owner", n->owner, "--cwd",
		o->cwd};
	for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
		argv[i++] = (char *)(uintptr_t)fixed[k]; /* posix_spawn does not write to it */
	if (o->wrapper)
		argv[i++] = (char *)(uintptr_t) "--starter";
	if (o->wrapper && o->filter_fd > 0) {
		argv[i++] = (char *)(uintptr_t) "--filter-fd";
		argv[i++] = (char *)(uintptr_t)TEXT(SPAWN_FILTER_FD);
	}
	if (o->group_fd > 0) {
		argv[i++] = (char *)(uintptr_t) "--group-fd";
		argv[i++] = (char *)(uintptr_t)TEXT(SPAWN_GROUP_FD);
	}
	if (o->tasks > 0 || o->memory > 0) {
		snprintf(n->tasks, sizeof n->tasks, "%llu", (unsigned long long)o->tasks);
		snprintf(n->memory, sizeof n->memory, "%llu", (unsigned long long)o->memory);
		const char *const limits[] = {"--tasks", n->tasks, "--memory", n->memory};
		for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
			argv[i++] = (char *)(uintptr_t)limits[k];
	}
	if (o->respawn)
		argv[i++] = (char *)(uintptr_t) "--respawn";
	if (o->no_flow)
		argv[i++] = (char *)(uintptr_t) "--no-flow";
	argv[i++] = (char *)(uintptr_t) "--";
	int wrapped = spawn_wrap(argv + i, o->wrapper);
	if (wrapped < 0)
		return wrapped;
	i += (size_t)wrapped;
	for (size_t k = 0; o->argv[k]; k++) {
		if (k == SHELL_ARGS_MAX)
			return -E2BIG;
		argv[i++] = o->argv[k];
	}
	argv[i] = NULL;
	return 0;
}

static int fill_actions(posix_spawn_file_actions_t *actions, const void *user)
{
	const struct ends *ours = user;
	const struct spawn_options *o = ours->options;
	int rc = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, 0, 1);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, 0, 2);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, ours->dir, SPAWN_DIR_FD);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, ours->report, HOLDER_REPORT_FD);
	if (rc == 0)
		rc = spawn_add_fds(actions, HOLDER_REPORT_FD + 1, o->wrapper ? o->filter_fd : 0,
			ours->group > 0 ? ours->group : 0);
	return -rc;
}

/* The filter is opened anew: readers of one open file would share its offset. */
int spawn_add_fds(posix_spawn_file_actions_t *actions, int first, int filter_fd, int group_fd)
{
	char path[32];
	int rc = 0;
	if (filter_fd <= 0 && group_fd <= 0)
		return posix_spawn_file_actions_addclosefrom_np(actions, first);
	snprintf(path, sizeof path, "/proc/self/fd/%d", filter_fd);
	for (int fd = first; rc == 0 && fd <= SPAWN_GROUP_FD; fd++)
		if (fd == SPAWN_FILTER_FD && filter_fd > 0)
			rc = posix_spawn_file_actions_addopen(actions, fd, path, O_RDONLY, 0);
		else if (fd == SPAWN_GROUP_FD && group_fd > 0)
			rc = posix_spawn_file_actions_adddup2(actions, group_fd, fd);
		else
			rc = posix_spawn_file_actions_addclose(actions, fd);
	return rc == 0 ? posix_spawn_file_actions_addclosefrom_np(actions, SPAWN_GROUP_FD + 1) : rc;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t all, none;
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(attributes, &all);
	posix_spawnattr_setsigmask(attributes, &none);
	return -posix_spawnattr_setflags(
		attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

int spawn_program(const char *program, char *const *argv, char *const *envp,
	int (*fill)(posix_spawn_file_actions_t *actions, const void *user), const void *user,
	pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rc = -posix_spawn_file_actions_init(&actions);
	if (rc < 0)
		return rc;
	rc = -posix_spawnattr_init(&attributes);
	if (rc < 0)
		goto err_actions;
	rc = fill(&actions, user);
	if (rc == 0)
		rc = set_attributes(&attributes);
	if (rc == 0)
		rc = -posix_spawn(ret_pid, program, &actions, &attributes, argv, envp);
	posix_spawnattr_destroy(&attributes);
err_actions:
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static int dup_high(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, SPAWN_FIRST_FREE_FD);
}

int spawn_move_fd_high(int fd)
{
	if (fd < 0)
		return -errno;
	int high = dup_high(fd);
	int rc = high < 0 ? -errno : high;
	close(fd);
	return rc;
}

static void close_ends(const struct ends *e)
{
	const int fds[] = {e->dir, e->report, e->group};
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int open_ends(const struct spawn_options *o, int report_fd, struct ends *ret)
{
	*ret = (struct ends){
		.options = o, .report = dup_high(report_fd), .dir = dup_high(o->dir_fd), .group = -1};
	int rc = ret->report < 0 || ret->dir < 0 ? -errno : 0;
	if (rc == 0 && o->group_fd > 0) {
		ret->group = dup_high(o->group_fd);
		rc = ret->group < 0 ? -errno : 0;
	}
	return rc;
}

int spawn_holder(const struct spawn_options *o, pid_t *ret_pid, int *ret_report_fd)
{
	struct numbers numbers;
	char *argv[SPAWN_WRAPPER_MAX + FIXED_ARGS + SHELL_ARGS_MAX + 2];
	struct ends ours;
	int fds[2], rc;
	rc = build_argv(o, &numbers, argv);
	if (rc < 0)
		return rc;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	rc = open_ends(o, fds[1], &ours);
	if (rc == 0)
		rc = spawn_program(o->holder, argv, o->envp, fill_actions, &ours, ret_pid);
	close_ends(&ours);
	close(fds[1]);
	if (rc < 0) {
		close(fds[0]);
		return rc;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	*ret_report_fd = fds[0];
	return 0;
}
