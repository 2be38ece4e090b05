/* The control group needs the privileges that the change of user drops. */
#include "pty/holder/enter.h"

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

static int set_limit(int which, uint64_t most)
{
	const struct rlimit both = {(rlim_t)most, (rlim_t)most};
	return most > 0 && setrlimit(which, &both) < 0 ? -errno : 0;
}

int enter_limits(const struct enter_limits *l)
{
	if (l->group_fd >= 0 && write(l->group_fd, "0", 1) < 0)
		return -errno;
	int rc = set_limit(RLIMIT_NPROC, l->tasks);
	return rc < 0 ? rc : set_limit(RLIMIT_AS, l->memory);
}

static _Noreturn void give_up(const char *what, int error)
{
	dprintf(STDERR_FILENO, "ringside: %s: %s\n", what, strerror(error));
	_exit(ENTER_EXIT);
}

/* User of the command line, as text; NULL: not given. */
struct identity {
	const char *user, *gid, *groups;
};

void enter_unhide_environment(void)
{
	char **kept = environ;
	for (char **v = environ; *v; v++)
		if (strncmp(*v, ENTER_HIDDEN_PREFIX, sizeof ENTER_HIDDEN_PREFIX - 1) == 0)
			*kept++ = *v + sizeof ENTER_HIDDEN_PREFIX - 1;
	*kept = NULL;
}

/* Change real, effective and saved ids, and the groups. Returns 0, or -1 with errno. */
static int change_user(const struct identity *identity)
{
	gid_t groups[GROUPS_MAX], gid = identity->gid ? (gid_t)strtoul(identity->gid, NULL, 10) : 0;
	uid_t uid = (uid_t)strtoul(identity->user, NULL, 10);
	size_t count = 0;
	const char *at = identity->groups ? identity->groups : "";
	while (*at && count < GROUPS_MAX) {
		char *end;
		groups[count++] = (gid_t)strtoul(at, &end, 10);
		at = end + (*end == ',');
	}
	if (uid == 0 || gid == 0 || *at) {
		errno = EPERM;
		return -1;
	}
	/* A change of uid clears the parent-death signal. */
	int signo = 0;
	pid_t parent = getppid();
	(void)prctl(PR_GET_PDEATHSIG, &signo);
	/* Drop root's session keyring, which gives access to its keys. */
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
	struct identity identity = {0};
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
			identity.user = optarg;
		else if (c == 'p')
			identity.gid = optarg;
		else if (c == 'a')
			identity.groups = optarg;
		else if (c == 's')
			show = true;
		else
			_exit(ENTER_EXIT);
	}
	argv += optind;
	int rc = enter_limits(&limits);
	if (rc < 0)
		give_up("cannot set limits", -rc);
	if (limits.group_fd >= 0)
		close(limits.group_fd);
	if (identity.user && change_user(&identity) < 0)
		give_up("cannot change user", errno);
	if (cwd && chdir(cwd) < 0)
		give_up(cwd, errno);
	if (show)
		enter_unhide_environment();
	if (*argv)
		execvp(argv[0], argv);
	give_up(*argv ? argv[0] : ENTER_OPTION, *argv ? errno : EINVAL);
}
