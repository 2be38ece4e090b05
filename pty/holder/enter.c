/* See pty/enter.h. In this order: the group while we may, limits, the user, the place, and then the program. */
#include "pty/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROUPS_MAX 256u

extern char **environ;

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

/* Words of the command line; NULL: not given. */
struct who {
	const char *user, *gid, *groups;
};

void enter_show_environment(void)
{
	char **kept = environ;
	for (char **v = environ; *v; v++)
		if (strncmp(*v, ENTER_HIDDEN, sizeof ENTER_HIDDEN - 1) == 0)
			*kept++ = *v + sizeof ENTER_HIDDEN - 1;
	*kept = NULL;
}

/* For good, and with no group but those. Returns 0, or -1 with errno. */
static int become(const struct who *w)
{
	gid_t groups[GROUPS_MAX], gid = w->gid ? (gid_t)strtoul(w->gid, NULL, 10) : 0;
	uid_t uid = (uid_t)strtoul(w->user, NULL, 10);
	size_t count = 0;
	const char *at = w->groups ? w->groups : "";
	while (*at && count < GROUPS_MAX) {
		char *end;
		groups[count++] = (gid_t)strtoul(at, &end, 10);
		at = end + (*end == ',');
	}
	if (uid == 0 || gid == 0 || *at) {
		errno = EPERM;
		return -1;
	}
	/* What is to come with the end of our parent is forgotten with the user. */
	int signo = 0;
	pid_t parent = getppid();
	(void)prctl(PR_GET_PDEATHSIG, &signo);
	/* Keys of root's login are reached through its keyring by all who have inherited that. */
	(void)syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	if (setgroups(count, groups) < 0 || setresgid(gid, gid, gid) < 0 ||
		setresuid(uid, uid, uid) < 0)
		return -1;
	if (signo > 0 && prctl(PR_SET_PDEATHSIG, signo) == 0 && getppid() != parent)
		_exit(ENTER_EXIT);
	return 0;
}

void enter(int argc, char **argv)
{
	static const struct option names[] = {
		{"group", required_argument, NULL, 'g'},
		{"tasks", required_argument, NULL, 't'},
		{"memory", required_argument, NULL, 'm'},
		{"cwd", required_argument, NULL, 'w'},
		{"user", required_argument, NULL, 'u'},
		{"gid", required_argument, NULL, 'p'},
		{"groups", required_argument, NULL, 'a'},
		{"show", no_argument, NULL, 's'},
		{0},
	};
	struct enter_limits limits = {.group_fd = -1};
	struct who who = {0};
	const char *cwd = NULL;
	bool show = false;
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
		else if (c == 'u')
			who.user = optarg;
		else if (c == 'p')
			who.gid = optarg;
		else if (c == 'a')
			who.groups = optarg;
		else if (c == 's')
			show = true;
		else
			_exit(ENTER_EXIT);
	}
	argv += optind;
	int rc = enter_limits(&limits);
	if (rc < 0)
		give_up("limits", -rc);
	if (limits.group_fd >= 0)
		close(limits.group_fd);
	if (who.user && become(&who) < 0)
		give_up("user", errno);
	if (cwd && chdir(cwd) < 0)
		give_up(cwd, errno);
	if (show)
		enter_show_environment();
	if (*argv)
		execvp(argv[0], argv);
	give_up(*argv ? argv[0] : ENTER_OPTION, *argv ? errno : EINVAL);
}
