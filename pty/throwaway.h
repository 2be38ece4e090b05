/*
 * A command in its own terminals or pipes, which are closed after it. Its runner is started with
 * posix_spawn, because a fork of a big server takes tens of ms.
 *
 * The terminals are raw, so output bytes are exact. Neither is the controlling terminal, for two
 * reasons: no user sits there, so a program that asks at /dev/tty should fail instead of waiting
 * for ever; and when a session leader exits, the kernel sends SIGHUP to the foreground group of its
 * controlling terminal, which would kill `nohup server &` before nohup ignores the signal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What to run. All pointers and descriptors are borrowed for the call. */
struct throwaway_options {
	const char *holder;    /* path of ringside-holder, see pty/runner.h */
	const char *bash;      /* path of bash */
	const char *command;   /* for bash -c; without NUL */
	size_t command_length; /* bytes; may exceed the kernel's limit of one argument */
	bool secret;           /* keep the command out of the process's arguments */
	const char *cwd;       /* absolute; ignored with a wrapper */
	char *const *wrapper;  /* words that start bash, with bash's path as the last; NULL: none */
	int filter_fd;         /* file for the wrapper, see spawn_add_fds(); 0: none */
	int group_fd;          /* cgroup.procs of the command's control group; 0: none */
	uint64_t tasks, memory; /* limits, see pty/enter.h; 0 = none */
	uid_t owner;            /* user that the wrapper changes to; 0: none */
	bool spares;            /* kill only the command's process group */
	char *const *envp;      /* hidden variables: see pty/enter.h */
	int input_fd;           /* standard input, if above 0 */
	const void *input;      /* otherwise these bytes are standard input; NULL: /dev/null */
	size_t input_length;    /* bytes */
	bool terminals;         /* stdout and stderr are terminals; otherwise pipes */
	unsigned rows, cols;    /* of the terminals */
	long nofile;            /* soft limit of descriptors; 0 = the server's */
};

/* A running command. The caller closes the descriptors; out and err are non-blocking. */
struct throwaway {
	pid_t pid;     /* the command, which leads its own kernel session and process group */
	pid_t runner;  /* the command's parent; the caller must wait for it */
	int pidfd;     /* of the runner: readable after its end */
	int socket_fd; /* to the runner: see pty/runner.h */
	int out, err;
};

/*
 * Start a command. Returns 0, or a negative errno and nothing is left: -EAGAIN (process limit),
 * -ENOSPC (no free terminal), another lack of resources, or -ENOENT, -EACCES ... for cwd or bash.
 */
int throwaway_start(const struct throwaway_options *options, struct throwaway *ret_throwaway);
