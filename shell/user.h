/* The user of sessions, processes and runs, if that is not the server's (--session-user). */
#pragma once

#include <sys/types.h>

#define USER_GROUPS_MAX 256u
#define USER_WORDS 6 /* words of user_words() */

/* A user other than root. */
struct user {
	char name[64];
	char *home; /* "/" if the directory does not exist; owned */
	uid_t uid;
	gid_t gid;
	char ids[2][16];                       /* uid and gid in decimal */
	char groups[USER_GROUPS_MAX * 11 + 1]; /* all gids, separated by commas */
};

/*
 * Look up a user. Returns 0 with *ret for user_finish(), or a negative errno: -ENOENT, -EPERM (root or its group) ...
 */
int user_find(const char *name, struct user *ret);

/* Free what it owns. */
void user_finish(struct user *u);

/* Set HOME, USER, LOGNAME and SHELL of this process to the user's, and unset the server's own directories. */
void user_set_environment(const struct user *u);

/* The options that make ringside-holder change to the user, see pty/enter.h; borrowed from the user. */
void user_words(const struct user *u, const char *ret_words[USER_WORDS]);

/*
 * A copy of an environment with renamed variables, for a process that has yet to change from root to the user. For
 * words_free(); NULL if memory is short.
 */
char **user_hide_environment(char *const *environment);
