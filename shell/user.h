/* Whom sessions, processes and runs belong to, where that is not the server's user: root's choice. */
#pragma once

#include <sys/types.h>

#define USER_GROUPS_MAX 256u
#define USER_WORDS 6 /* of user_words() */

struct user {
	char name[64];
	char *home; /* "/" where it has none; owned */
	uid_t uid;
	gid_t gid;
	char ids[2][16];                       /* both, in decimal */
	char groups[USER_GROUPS_MAX * 11 + 1]; /* all of its groups, with commas */
};

/*
 * Look up a user. Returns 0 with *ret to be given to user_finish(), or a negative errno: -ENOENT (unknown), -EPERM (root,
 * or in root's group) ...
 */
int user_find(const char *name, struct user *ret);
void user_finish(struct user *u);

/* Make HOME, USER, LOGNAME and SHELL of our own environment the user's, and drop what is only ours there. */
void user_set_environment(const struct user *u);

/* The options by which ringside-holder becomes the user, see pty/enter.h; borrowed of the user. */
void user_words(const struct user *u, const char *ret_words[USER_WORDS]);

/*
 * A copy of an environment for who has yet to become the user: nothing of it means anything to what is still root's. The
 * caller's, for environment_destroy(); NULL when memory is short.
 */
char **user_hide_environment(char *const *environment);
