/* See pty/enter.h. In this order: the group while we may, limits, the place, and then the program. */
#include "pty/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int limit(int which, uint64_t most)
{
	const struct rlimit both = {(rlim_t)most, (rlim_t)most};
	return most > 0 && setrlimit(which, &both) < 0 ? -errno : 0;
}

int enter_limits(const struct enter_limits *l)
{
	if (l->group_fd >= 0 && write(l->group_fd, "0", 1) < 0)
		return -errno;
	int rc = limit(RLIMIT_NPROC, l->tasks);
	return rc < 0 ? rc : limit(RLIMIT_AS, l->memory);
}

static _Noreturn void give_up(const char *what, int error)
{
	dprintf(STDERR_FILENO, "ringside: %s: %s\n", what, strerror(error));
	_exit(ENTER_EXIT);
}

void enter(int argc, char **argv)
{
	static const struct option names[] = {
		{"group", required_argument, NULL, 'g'},
		{"tasks", required_argument, NULL, 't'},
		{"memory", required_argument, NULL, 'm'},
		{"cwd", required_argument, NULL, 'w'},
		{0},
	};
	struct enter_limits limits = {.group_fd = -1};
	const char *cwd = NULL;
	int c;
	while ((c = getopt_long(argc, argv, "+", names, NULL)) != -1) {
		if (c == 'g')
			limits.group_fd = (int)strtol(optarg, NULL, 10);
		else if (c == 't')
			limits.tasks = strtoull(optarg, NULL, 10);
		else if (c == 'm')
			limits.memory = strtoull(optarg, NULL, 10);
		else if (c == 'w')
			cwd = optarg;
		else
			_exit(ENTER_EXIT);
	}
	argv += optind;
	int rc = enter_limits(&limits);
	if (rc < 0)
		give_up("limits", -rc);
	if (limits.group_fd >= 0)
		close(limits.group_fd);
	if (cwd && chdir(cwd) < 0)
		give_up(cwd, errno);
	if (*argv)
		execvp(argv[0], argv);
	give_up(*argv ? argv[0] : ENTER_OPTION, *argv ? errno : EINVAL);
}
