/*
 * A sandbox for each session, process and run: kernel namespaces, made by bubblewrap (bwrap(1)), with no files of the
 * machine except those of the profile and of the owner's lists. The holder stays outside. A starter (pty/starter.h) is
 * the first process inside; when it exits, the sandbox ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ISOLATION_BINDS_MAX 32u
#define ISOLATION_PROFILE_DEFAULT "private"
/* Descriptor from which bwrap reads its system call filter: SPAWN_FILTER_FD. */
#define ISOLATION_FILTER_FD 11
#define ISOLATION_HOLDER "/run/ringside/ringside-holder" /* path of the holder inside */

struct isolation;
struct user;

/* Configuration; all is borrowed for the call. */
struct isolation_options {
	/*
	 * "private": /usr, /etc and the like read-only, an empty home and /tmp;
	 * "system": all files read-only, an empty /tmp and /run;
	 * "home": the same, with the home directory writable.
	 */
	const char *profile;
	bool share_net; /* the machine's network; otherwise only a loopback interface */
	const char *const *writable; /* directories, absolute */
	size_t writable_count;
	const char *const *readable; /* the same, read-only */
	size_t readable_count;
	const char *runtime_dir; /* hidden except for the session's directory, which is read-only */
	const char *holder;      /* path of ringside-holder */
	const char *home;        /* absolute; NULL: none */
	/* Creates the sandbox, as in pty/enter.h; NULL: the server's user. */
	const struct user *user;
};

/*
 * Find bubblewrap and check that it works. Returns 0 with *ret owned by the caller, or a negative errno with the
 * reason, for people, in ret_why (of that size).
 */
int isolation_open(const struct isolation_options *options, struct isolation **ret, char *ret_why,
	size_t size);

/* Free it and close its filter; NULL is ok. */
void isolation_close(struct isolation *i);

/*
 * The words that go before a shell and its arguments, and run a starter that starts the shell in cwd. directory: the
 * session's, of which only the sub-folder "shell" is visible. respawn: see pty/starter.h. Returns a list for
 * words_free(), or NULL if memory is short.
 */
char **isolation_wrap_starter(
	const struct isolation *i, const char *directory, const char *cwd, bool respawn);

/* The words that go before a command, which runs in cwd. Returns as isolation_wrap_starter(). */
char **isolation_wrap_command(const struct isolation *i, const char *cwd);

/* Whether a path is this directory or below it; both absolute, without symbolic links. */
bool isolation_is_below(const char *path, const char *directory);

/*
 * Whether the directory (absolute) may exist inside, perhaps as another one than the machine's. False only if that is
 * certain; a path with symbolic links is never certain.
 */
bool isolation_may_contain(const struct isolation *i, const char *directory);

/* The file with the system call filter, not owned. Open it as ISOLATION_FILTER_FD to run such a list. */
int isolation_filter(const struct isolation *i);

/* The default working directory: `directory` (absolute, real) if the sandbox has it, else the home. Borrowed. */
const char *isolation_default_directory(const struct isolation *i, const char *directory);
