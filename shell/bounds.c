/*
 * See bounds.h. A wrapper's words come in this order: ringside-holder as in pty/enter.h, then bwrap or the starter,
 * then the program. The holder itself stays outside of the sandbox and of its session's group, so it keeps working when
 * the session has used up its limits.
 */
#include "shell/bounds.h"

#include "pty/enter.h"
#include "pty/spawn.h"
#include "pty/starter.h"
#include "shell/cgroup.h"
#include "shell/descriptors.h"
#include "shell/environment.h"
#include "shell/isolation.h"
#include "shell/user.h"
#include "shell/words.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENTER_WORDS_MAX 24

_Static_assert(ISOLATION_FILTER_FD == SPAWN_FILTER_FD,
	"bwrap reads the filter from the descriptor that spawn sets up");

const struct bounds bounds_none;

/* Put words in front of a list, which the result owns. Returns NULL and frees the list if memory is short. */
static char **prepend(const char *const *words, size_t count, char **list)
{
	size_t length = 0;
	while (list && list[length])
		length++;
	char **all = calloc(count + length + 1, sizeof *all);
	for (size_t i = 0; all && i < count; i++)
		if (!(all[i] = strdup(words[i]))) {
			words_free(all);
			all = NULL;
		}
	if (all && length > 0)
		memcpy(all + count, list, length * sizeof *list);
	if (all)
		free(list);
	else
		words_free(list);
	return all;
}

static int enter_group(const struct bounds *b, const char *group, struct bounded *ret)
{
	return b->cgroup ? cgroup_make(b->cgroup, group, &ret->group_fd) : 0;
}

static size_t put_user(const struct bounds *b, const char **words)
{
	if (!b->user)
		return 0;
	user_words(b->user, words);
	return USER_WORDS;
}

/* Put the words that change to the session user in front of a list; without a user, return the list. Owns the list. */
static char **enter_user(const struct bounds *b, char **list)
{
	const char *words[ENTER_WORDS_MAX] = {b->holder, ENTER_OPTION};
	size_t n = 2;
	if (!b->user || !list)
		return list;
	n += put_user(b, words + n);
	words[n++] = "--";
	return prepend(words, n, list);
}

/* The words that run bash as the session user. */
static char **bash_as_user(const struct bounds *b, const char *cwd)
{
	const char *words[ENTER_WORDS_MAX] = {b->holder, ENTER_OPTION};
	size_t n = 2;
	n += put_user(b, words + n);
	const char *const rest[] = {"--cwd", cwd, "--show", "--", "bash"};
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		words[n++] = rest[i];
	return prepend(words, n, NULL);
}

/* The words that run a starter outside of a sandbox. */
static char **make_starter(
	const struct bounds *b, const char *directory, const char *cwd, bool respawn)
{
	const char *words[] = {b->holder, STARTER_OPTION, "--directory", directory, "--cwd", cwd,
		respawn ? "--respawn" : "--", "--"};
	return prepend(words, sizeof words / sizeof *words - !respawn, NULL);
}

int bounds_shell(const struct bounds *b, const char *group, const struct bounds_shell *shell,
	struct bounded *ret)
{
	struct bounded bounded = {.owner = bounds_owner(b)};
	char directory[PATH_MAX];
	int rc = descriptor_path(shell->dir_fd, directory);
	if (rc < 0)
		return rc;
	if (b->isolation) {
		bounded.filter_fd = isolation_filter(b->isolation);
		bounded.wrapper = isolation_wrap_starter(
			b->isolation, directory, shell->cwd, shell->respawn);
	} else if (b->user) {
		bounded.wrapper = make_starter(b, directory, shell->cwd, shell->respawn);
	}
	bounded.wrapper = enter_user(b, bounded.wrapper);
	rc = (b->isolation || b->user) && !bounded.wrapper ? -ENOMEM
							   : enter_group(b, group, &bounded);
	if (rc < 0)
		bounds_release(&bounded);
	else
		*ret = bounded;
	return rc;
}

unsigned bounds_limit_words(
	const struct bounds *b, struct bounds_limit_texts *numbers, const char **ret_words)
{
	if (b->tasks == 0 && b->memory == 0)
		return 0;
	snprintf(numbers->tasks, sizeof numbers->tasks, "%llu", (unsigned long long)b->tasks);
	snprintf(numbers->memory, sizeof numbers->memory, "%llu", (unsigned long long)b->memory);
	const char *const words[BOUNDS_WORDS] = {bounds_holder_path(b, b->holder), ENTER_OPTION,
		"--tasks", numbers->tasks, "--memory", numbers->memory, "--"};
	memcpy(ret_words, words, sizeof words);
	return BOUNDS_WORDS;
}

int bounds_command(const struct bounds *b, const char *group, const char *cwd, struct bounded *ret)
{
	struct bounded bounded = {.owner = bounds_owner(b)};
	if (b->isolation && !isolation_may_contain(b->isolation, cwd))
		return -EXDEV;
	if (b->isolation) {
		bounded.filter_fd = isolation_filter(b->isolation);
		bounded.wrapper = enter_user(b, isolation_wrap_command(b->isolation, cwd));
	} else if (b->user) {
		bounded.wrapper = bash_as_user(b, cwd);
	}
	int rc = (b->isolation || b->user) && !bounded.wrapper ? -ENOMEM
							       : enter_group(b, group, &bounded);
	if (rc < 0)
		bounds_release(&bounded);
	else
		*ret = bounded;
	return rc;
}

uid_t bounds_owner(const struct bounds *b)
{
	return b->user ? b->user->uid : geteuid();
}

int bounds_allow_traverse(const struct bounds *b, int dir_fd)
{
	return b->user && fchmod(dir_fd, 0711) < 0 ? -errno : 0;
}

char **bounds_hide_environment(char **environment)
{
	if (!environment)
		return environment;
	char **hidden = user_hide_environment(environment);
	words_free(environment);
	return hidden;
}

bool bounds_can_reach(const struct bounds *b, const char *directory)
{
	const char *words[ENTER_WORDS_MAX] = {b->holder, ENTER_OPTION};
	char *nothing[] = {NULL};
	size_t n = 2;
	int status = -1;
	pid_t pid;
	n += put_user(b, words + n);
	const char *const rest[] = {
		"--cwd", directory, "--", b->holder, ENTER_OPTION, "--", "/bin/true", NULL};
	memcpy(words + n, rest, sizeof rest);
	if (posix_spawn(&pid, b->holder, NULL, NULL, (char *const *)(uintptr_t)words, nothing) != 0)
		return false;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

void bounds_release(struct bounded *bounded)
{
	words_free(bounded->wrapper);
	if (bounded->group_fd > 0)
		close(bounded->group_fd);
	*bounded = (struct bounded){0};
}

const char *bounds_holder_path(const struct bounds *b, const char *holder)
{
	return b->isolation ? ISOLATION_HOLDER : holder;
}

void bounds_release_group(const struct bounds *b, const char *group, bool kill_all)
{
	if (b->cgroup)
		cgroup_remove(b->cgroup, group, kill_all);
}

void bounds_kill(const struct bounds *b, const char *group)
{
	if (b->cgroup)
		cgroup_kill(b->cgroup, group);
}

void bounds_sweep(const struct bounds *b)
{
	cgroup_sweep(b->cgroup);
}
