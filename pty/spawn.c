/* See spawn.h. The numbers of the descriptors in the holder are fixed: 3 and 4. */
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
#define FIRST_FREE_FD 16 /* our own copies lie above, so that dup2 in the child overwrites none */
#define FIXED_ARGS 26
#define SHELL_ARGS_MAX 64

struct numbers {
	char rows[16], cols[16], ring[24], control[24], ttl[16], nofile[24], mark[24];
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

/* argv of the holder; the texts live in *n. Returns 0 or -E2BIG. */
static int build_argv(const struct spawn_options *o, struct numbers *n, char **argv)
{
	int wrapped = spawn_wrap(argv, o->wrapper);
	if (wrapped < 0)
		return wrapped;
	size_t i = (size_t)wrapped;
	snprintf(n->rows, sizeof n->rows, "%u", o->rows);
	snprintf(n->cols, sizeof n->cols, "%u", o->cols);
	snprintf(n->ring, sizeof n->ring, "%zu", o->ring_size);
	snprintf(n->control, sizeof n->control, "%zu", o->control_size);
	snprintf(n->ttl, sizeof n->ttl, "%u", o->ttl_s);
	snprintf(n->nofile, sizeof n->nofile, "%ld", o->nofile);
	snprintf(n->mark, sizeof n->mark, "%llu", (unsigned long long)o->mark);
	const char *const fixed[] = {"ringside-holder", "--dir-fd", "3", "--report-fd", "4",
		"--rows", n->rows, "--cols", n->cols, "--ring-size", n->ring, "--control-size",
		n->control, "--ttl", n->ttl, "--nofile", n->nofile, "--mark", n->mark, "--cwd",
		o->cwd};
	/* The wrapper's last word is the holder's first. */
	for (size_t k = i > 0; k < sizeof fixed / sizeof *fixed; k++)
		argv[i++] = (char *)(uintptr_t)fixed[k]; /* posix_spawn does not write to it */
	if (o->inside) {
		argv[i++] = (char *)(uintptr_t) "--inside";
		argv[i++] = (char *)(uintptr_t)o->inside;
	}
	if (o->respawn)
		argv[i++] = (char *)(uintptr_t) "--respawn";
	if (o->no_flow)
		argv[i++] = (char *)(uintptr_t) "--no-flow";
	argv[i++] = (char *)(uintptr_t) "--";
	for (size_t k = 0; o->argv[k]; k++) {
		if (k == SHELL_ARGS_MAX)
			return -E2BIG;
		argv[i++] = o->argv[k];
	}
	argv[i] = NULL;
	return 0;
}

static int fill_actions(posix_spawn_file_actions_t *actions, const struct spawn_options *o,
	int dir_fd, int report_fd)
{
	int rc = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, 0, 1);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, 0, 2);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, dir_fd, SPAWN_DIR_FD);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, report_fd, HOLDER_REPORT_FD);
	if (rc == 0 && o->wrapper)
		rc = spawn_open_filter(actions, o->filter_fd);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(
			actions, (o->wrapper ? SPAWN_FILTER_FD : HOLDER_REPORT_FD) + 1);
	return -rc;
}

/* Opened anew, for two that read one file description share its place. */
int spawn_open_filter(posix_spawn_file_actions_t *actions, int filter_fd)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/self/fd/%d", filter_fd);
	return posix_spawn_file_actions_addopen(actions, SPAWN_FILTER_FD, path, O_RDONLY, 0);
}

int spawn_attributes(posix_spawnattr_t *attributes)
{
	sigset_t all, none;
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(attributes, &all);
	posix_spawnattr_setsigmask(attributes, &none);
	return -posix_spawnattr_setflags(
		attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

static int spawn(
	const struct spawn_options *o, char *const *argv, int dir_fd, int report_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rc = -posix_spawn_file_actions_init(&actions);
	if (rc < 0)
		return rc;
	rc = -posix_spawnattr_init(&attributes);
	if (rc < 0)
		goto err_actions;
	rc = fill_actions(&actions, o, dir_fd, report_fd);
	if (rc == 0)
		rc = spawn_attributes(&attributes);
	if (rc == 0)
		rc = -posix_spawn(ret_pid, o->wrapper ? o->wrapper[0] : o->holder, &actions,
			&attributes, argv, o->envp);
	posix_spawnattr_destroy(&attributes);
err_actions:
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

int spawn_holder(const struct spawn_options *o, pid_t *ret_pid, int *ret_report_fd)
{
	struct numbers numbers;
	char *argv[SPAWN_WRAPPER_MAX + FIXED_ARGS + SHELL_ARGS_MAX + 2];
	int fds[2], rc;
	rc = build_argv(o, &numbers, argv);
	if (rc < 0)
		return rc;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	int report = fcntl(fds[1], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	int dir = fcntl(o->dir_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	rc = report < 0 || dir < 0 ? -errno : spawn(o, argv, dir, report, ret_pid);
	if (report >= 0)
		close(report);
	if (dir >= 0)
		close(dir);
	close(fds[1]);
	if (rc < 0) {
		close(fds[0]);
		return rc;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	*ret_report_fd = fds[0];
	return 0;
}
