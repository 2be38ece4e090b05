/*
 * A command in terminals or pipes that are thrown away after it: posix_spawn of bash (a fork of a big
 * server takes tens of ms), everything prepared before, nothing inherited.
 *
 * The terminals are raw: bytes come as they were written. Neither is the controlling terminal. Nobody sits
 * at them, so what asks at /dev/tty should fail and not wait for ever; and when the leader of a session
 * ends, the kernel sends SIGHUP to the whole foreground group of its controlling terminal, which kills
 * `nohup server &` whenever nohup has not come to ignoring that signal yet.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All is borrowed for the call. */
struct throwaway_options {
	const char *bash;      /* its path */
	const char *command;   /* for bash -c; without NUL */
	size_t command_length; /* bytes; may be longer than an argument may be */
	bool secret;           /* it must not be seen among a process's arguments */
	const char *cwd;       /* absolute; with a wrapper its own business */
	char *const *wrapper;  /* what starts bash, and bash's path behind it; NULL: nobody does */
	int filter_fd;         /* what that gets, see spawn_lend(); 0: nothing */
	int group_fd;          /* likewise */
	uid_t owner;           /* whom the wrapper makes it; 0: nobody else */
	char *const *envp;
	int input_fd;        /* standard input, when it is above 0 */
	const void *input;   /* or these bytes, a file of its own; NULL: /dev/null */
	size_t input_length; /* bytes */
	bool terminals;      /* stdout and stderr are terminals; otherwise pipes */
	unsigned rows, cols; /* of the terminals */
	long nofile;         /* soft limit of descriptors; 0 = ours */
};

/* What runs. All descriptors are non-blocking, and the caller's to close. */
struct throwaway {
	pid_t pid; /* a child of ours to be waited for; leads a session and a group of its own */
	int pidfd; /* readable once it has ended */
	int out, err;
};

/*
 * Start one. Returns 0, or a negative errno and nothing is left: -EAGAIN (no more processes), -ENOSR (no more terminals),
 * what else the system lacks, or -ENOENT, -EACCES ... for cwd or bash.
 */
int throwaway_start(const struct throwaway_options *options, struct throwaway *ret_throwaway);
