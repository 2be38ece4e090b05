/*
 * A room of its own for each session, process and run: namespaces of the kernel, made by bubblewrap (bwrap(1)), in which
 * there is nothing of the machine but what the profile and the owner's lists let in. The holder stays outside; a starter
 * (pty/starter.h) is the first process in there, and all that happens inside ends with it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ISOLATION_BINDS_MAX 32u
#define ISOLATION_PROFILE_DEFAULT "private"
#define ISOLATION_FILTER_FD \
	11 /* where bwrap looks for its filter of system calls: SPAWN_FILTER_FD */
#define ISOLATION_HOLDER "/run/ringside/ringside-holder" /* the holder, in there */

struct isolation;
struct user;

/* What is asked for; all is borrowed for the call. */
struct isolation_options {
	/*
	 * "private": /usr, /etc and the like read-only, an empty home and /tmp;
	 * "system": all files read-only, an empty /tmp and /run;
	 * "home": the same, with the home directory writable.
	 */
	const char *profile;
	bool share_net;              /* the machine's network; otherwise a loopback of its own */
	const char *const *writable; /* directories, absolute */
	size_t writable_count;
	const char *const *readable; /* likewise, read-only */
	size_t readable_count;
	const char *runtime_dir; /* hidden but for the session's own directory, which is read-only */
	const char *holder;      /* path of ringside-holder */
	const char *home;        /* absolute; NULL: there is none */
	const struct user *user; /* who will make it, started as pty/enter.h says; NULL: we do */
};

/*
 * Find bubblewrap and see whether it works here. Returns 0 with *ret owned by the caller, or a negative errno and in
 * ret_why (of that size) why not, for people.
 */
int isolation_open(const struct isolation_options *options, struct isolation **ret, char *ret_why,
	size_t size);

/* Free it; NULL is fine. Descriptors of isolation_filter() are closed. */
void isolation_close(struct isolation *i);

/*
 * The words to put before a shell and its arguments, up to a starter that starts it in cwd. directory: the session's, of which only
 * what is in its "shell" is let in. respawn: see pty/starter.h. The caller's, for isolation_free(); NULL when memory is short.
 */
char **isolation_wrap_starter(
	const struct isolation *i, const char *directory, const char *cwd, bool respawn);

/* The words to put before a command's, which will be in cwd. The caller's, for isolation_free(); NULL when memory is short. */
char **isolation_wrap_command(const struct isolation *i, const char *cwd);

/* Whether a path is this directory or below it; both absolute, without links. */
bool isolation_is_below(const char *path, const char *directory);

/*
 * Whether a directory (absolute) may be in there, though it need not be the machine's. Only one that certainly is not is
 * denied: of one that has links in its name it is not known.
 */
bool isolation_may_have(const struct isolation *i, const char *directory);

/* Free a list of words; NULL is fine. */
void isolation_free(char **words);

/* The file of the system calls' filter, to be opened anew as ISOLATION_FILTER_FD by who starts such a list. */
int isolation_filter(const struct isolation *i);

/*
 * Where a session begins that names no directory: in this one (absolute, its real name) if it is let in, else at home. Borrowed.
 */
const char *isolation_start(const struct isolation *i, const char *directory);
