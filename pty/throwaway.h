/*
 * A command in terminals or pipes that are thrown away after it: posix_spawn of its runner (a fork of a big
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
#include <stdint.h>
#include <sys/types.h>

/* All is borrowed for the call. */
struct throwaway_options {
	const char *holder;     /* path of ringside-holder, which runs it: see pty/runner.h */
	const char *bash;       /* its path */
	const char *command;    /* for bash -c; without NUL */
	size_t command_length;  /* bytes; may be longer than an argument may be */
	bool secret;            /* it must not be seen among a process's arguments */
	const char *cwd;        /* absolute; with a wrapper its own business */
	char *const *wrapper;   /* what starts bash, and bash's path behind it; NULL: nobody does */
	int filter_fd;          /* what that gets, see spawn_lend(); 0: nothing */
	int group_fd;           /* cgroup.procs of the command's group; 0: none */
	uint64_t tasks, memory; /* its limits, see pty/enter.h; 0 = none */
	uid_t owner;            /* whom the wrapper makes it; 0: nobody else */
	bool spares;            /* what has left the command's process group is never ended */
	char *const *envp;      /* hidden: see pty/enter.h */
	int input_fd;           /* standard input, when it is above 0 */
	const void *input;      /* or these bytes, a file of its own; NULL: /dev/null */
	size_t input_length;    /* bytes */
	bool terminals;         /* stdout and stderr are terminals; otherwise pipes */
	unsigned rows, cols;    /* of the terminals */
	long nofile;            /* soft limit of descriptors; 0 = ours */
};

/* What runs. All descriptors are the caller's to close; the outputs do not block. */
struct throwaway {
	pid_t pid;     /* of the command, which leads a session and a group of its own */
	pid_t runner;  /* its parent, a child of ours to be waited for */
	int pidfd;     /* of the runner: readable once that has ended */
	int socket_fd; /* to the runner: see pty/runner.h */
	int out, err;
};

/*
 * Start one. Returns 0, or a negative errno and nothing is left: -EAGAIN (no more processes), -ENOSR (no more terminals),
 * what else the system lacks, or -ENOENT, -EACCES ... for cwd or bash.
 */
int throwaway_start(const struct throwaway_options *options, struct throwaway *ret_throwaway);
