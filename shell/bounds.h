/*
 * Bounds of everything that the server starts (sessions, processes, runs): the sandbox (isolation), the limits (a
 * control group, or setrlimit(2)) and the user. What is not configured costs nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;
struct isolation;
struct user;

/* The bounds of a server. Strings and parts are borrowed for its life. */
struct bounds {
	const struct isolation *isolation; /* NULL: no sandbox */
	struct cgroup *cgroup;             /* NULL: no control groups */
	const struct user *user;           /* the session user; NULL: the server's user */
	uint64_t tasks, memory;            /* limits by setrlimit(2), see pty/enter.h; 0: none */
	const char *holder;                /* path of ringside-holder, which applies them */
};

/* No sandbox, no groups, no other user. */
extern const struct bounds bounds_none;

/* The bounds of one start. */
struct bounded {
	char **wrapper; /* argv prefix; its last word runs the program; owned; NULL: none */
	uid_t owner;    /* the user of the program */
	int filter_fd;  /* the filter that bwrap reads; not owned; 0: none */
	int group_fd;   /* cgroup.procs of its group; owned; 0: none */
};

/* A shell that a holder is about to start. */
struct bounds_shell {
	int dir_fd;      /* the session's directory */
	const char *cwd; /* where it starts, absolute */
	bool respawn;    /* the holder restarts it when it ends */
};

#define BOUNDS_WORDS 7 /* words of bounds_limit_words() */

/*
 * Prepare the start of a shell. group: name of its control group. Returns 0 with *ret_bounded for bounds_release(), or
 * a negative errno and nothing to release.
 */
int bounds_shell(const struct bounds *b, const char *group, const struct bounds_shell *shell,
	struct bounded *ret_bounded);

/* Prepare a start of bash, in cwd. Returns as bounds_shell(), or -EXDEV if the sandbox has no such directory. */
int bounds_command(
	const struct bounds *b, const char *group, const char *cwd, struct bounded *ret_bounded);

/* Free what it owns. The group stays. */
void bounds_release(struct bounded *bounded);

/* The user of what is started: the session user, or the server's. */
uid_t bounds_owner(const struct bounds *b);

/* Let the session user traverse a directory of the server. Does nothing without a session user. */
int bounds_allow_traverse(const struct bounds *b, int dir_fd);

/*
 * Rename the variables of an environment, so that they have no effect before the change of user and sandbox: see
 * pty/enter.h. Frees the argument and returns a new list, or NULL if memory is short.
 */
char **bounds_hide_environment(char **environment);

/* Check, in a process of the session user, that it can reach a directory and execute ringside-holder. */
bool bounds_can_reach(const struct bounds *b, const char *directory);

/* The path of ringside-holder (holder, outside) as seen by the started program. */
const char *bounds_holder_path(const struct bounds *b, const char *holder);

/* Memory for the words of bounds_limit_words(). */
struct bounds_limit_texts {
	char tasks[24], memory[24];
};

/*
 * Write the words that set the limits by setrlimit(2) to ret_words (BOUNDS_WORDS), for a process that is inside the
 * bounds already; they go in front of a command and live as long as numbers. Returns how many; 0: there are no such
 * limits.
 */
unsigned bounds_limit_words(
	const struct bounds *b, struct bounds_limit_texts *numbers, const char **ret_words);

/* Release the group, as cgroup_remove(). Does nothing without groups. */
void bounds_release_group(const struct bounds *b, const char *group, bool kill_all);

/* Kill all processes in the group. Does nothing without groups. */
void bounds_kill(const struct bounds *b, const char *group);

/* Call this periodically: see cgroup_sweep(). */
void bounds_sweep(const struct bounds *b);
