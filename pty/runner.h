/*
 * The runner: the parent of a throwaway command. It is the holder's program, executed as
 *
 *   ringside-holder --run [--nofile N] [--group FD] [--tasks N] [--memory BYTES] [--cwd DIR] [--show]
 *       [--program PATH] [--spare] [--watched] -- NAME ARGUMENT...
 *
 * with the command's standard streams, a socket to the server as descriptor RUNNER_SOCKET_FD, and
 * possibly a script for the command as descriptor RUNNER_SCRIPT_FD.
 *
 * --group to --show are those of pty/enter.h, applied to the command. --nofile is the command's
 * soft limit of descriptors, --program its path (default: NAME is searched in PATH).
 *
 * The runner is a subreaper, so it can kill all descendants of the command; with --spare it kills
 * only the command's process group. With --watched the command is bubblewrap, which waits for its
 * sandbox and passes its status on. It gets no SIGTERM, so that the sandbox can terminate by
 * itself; SIGKILL to it kills the whole sandbox, --spare or not.
 *
 * When the server closes the socket, the runner kills the processes and exits.
 */
#pragma once

#include <stdint.h>

#define RUNNER_OPTION "--run"
#define RUNNER_SCRIPT_FD 3
#define RUNNER_SOCKET_FD 4

/* Message types. Each packet is one struct runner_message. */
enum runner_type {
	/* runner to server */
	RUNNER_STARTED = 1, /* value = pid of the command */
	RUNNER_FAILED,      /* value = a negative errno; the runner exits */
	RUNNER_ENDED,       /* value = wait(2) status of the command; descendants may be alive */
	RUNNER_SURVIVORS,   /* value = live children (--spare: in the group); 0: the runner exits */
	/* server to runner */
	RUNNER_TERMINATE, /* send SIGTERM to all processes */
	RUNNER_KILL,      /* kill all processes */
	RUNNER_RELEASE,   /* exit, leave the processes alive */
};

/* One message, in either direction. */
struct runner_message {
	uint32_t type; /* enum runner_type */
	int32_t value;
};

/* Run the runner. argv[0] is RUNNER_OPTION, its arguments follow. */
_Noreturn void runner_run(int argc, char **argv);
