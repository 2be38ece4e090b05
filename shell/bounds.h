/*
 * What everything lives in that is started here, session, process or run: in a room of its own (isolation), within limits of
 * a control group, or within those of setrlimit(2); as another user. What is not asked for costs nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;
struct isolation;
struct user;

/* Strings and parts are borrowed for its life. */
struct bounds {
	const struct isolation *isolation; /* NULL: in no room */
	struct cgroup *cgroup;             /* NULL: no groups */
	const struct user *user;           /* whom it belongs to; NULL: ours */
	uint64_t tasks, memory;            /* limits without groups, see pty/enter.h; 0 = none */
	const char *holder;                /* path of ringside-holder, which does it */
};

/* Neither. */
extern const struct bounds bounds_none;

/* For one start. */
struct bounded {
	char **wrapper; /* words to put before its own, the last being what they run; NULL: none */
	uid_t owner;    /* whose it will be */
	int filter_fd;  /* what bwrap reads its filter from, not owned; 0: none */
	int group_fd;   /* cgroup.procs of its group; 0: none */
};

/* A shell that a holder is to start. */
struct bounds_shell {
	int dir_fd;      /* the session's directory */
	const char *cwd; /* where it starts, absolute */
	bool respawn;    /* another one may follow it */
};

#define BOUNDS_WORDS 7 /* of bounds_limits() */

/* Before such a shell. group: name of its control group. Returns 0, or a negative errno and nothing is left. */
int bounds_shell(const struct bounds *b, const char *group, const struct bounds_shell *shell,
	struct bounded *ret_bounded);

/* Before a command of bash that will be in cwd: with a wrapper that sees to it. Returns likewise, -EXDEV: its room has no such directory. */
int bounds_command(
	const struct bounds *b, const char *group, const char *cwd, struct bounded *ret_bounded);

/* Free what is the caller's. The group stays. */
void bounds_release(struct bounded *bounded);

/* Whose it will be: the server's, or the user's. */
uid_t bounds_owner(const struct bounds *b);

/* Let the user through a directory of ours, on to what is meant for it. Harmless without one. */
int bounds_pass(const struct bounds *b, int dir_fd);

/*
 * An environment for what has yet to reach its user and its sandbox, see pty/enter.h: takes it, and returns another one. NULL
 * when memory is short.
 */
char **bounds_environment(char **environment);

/* Whether the user reaches what it needs, a directory and ringside-holder: tried by one that becomes it. */
bool bounds_reach(const struct bounds *b, const char *directory);

/* Where ringside-holder, which is at this path, is for those who live in there. */
const char *bounds_program(const struct bounds *b, const char *holder);

/*
 * The words that set the limits without groups, for who is in there already: to be put before a command. They live as long
 * as numbers does. Returns how many; 0: there are no such limits.
 */
struct bounds_numbers {
	char tasks[24], memory[24];
};
unsigned bounds_limits(
	const struct bounds *b, struct bounds_numbers *numbers, const char **ret_words);

/* The group is not needed any more, see cgroup_remove(). Harmless without groups. */
void bounds_leave(const struct bounds *b, const char *group, bool kill_all);

/* Kill all who are in the group. Harmless without groups. */
void bounds_kill(const struct bounds *b, const char *group);

/* To be called now and then, see cgroup_sweep(). */
void bounds_sweep(const struct bounds *b);
