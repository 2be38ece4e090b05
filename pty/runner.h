/*
 * The runner: the parent of a command that runs on its own. It is the holder's program, executed as
 *
 *   ringside-holder --run [--nofile N] [--group FD] [--tasks N] [--memory BYTES] [--cwd DIR] [--show]
 *       [--program PATH] [--spare] [--watched] -- NAME ARGUMENT...
 *
 * with the command's standard streams, with RUNNER_SCRIPT if that is meant for the command, and with a socket to the server
 * as RUNNER_SOCKET. The options are those of pty/enter.h, of the command; --nofile is its soft limit of descriptors, --program where it is
 * (without: NAME is looked for). It
 * is the subreaper of all that the command starts: whatever loses its parent is found and ended; with --spare only what is
 * in the command's process group. With --watched the command is bubblewrap, which waits for a sandbox and passes its status
 * on: it gets no SIGTERM, so that the sandbox can end in its own time, and nothing in there is spared when it is killed. When the server is gone the runner ends all that,
 * and itself.
 */
#pragma once

#include <stdint.h>

#define RUNNER_OPTION "--run"
#define RUNNER_SCRIPT 3
#define RUNNER_SOCKET 4

/* One struct runner_message a packet. */
enum runner_type {
	RUNNER_STARTED = 1, /* from it: value = pid of the command */
	RUNNER_FAILED,      /* from it: value = a negative errno; it has ended */
	RUNNER_ENDED, /* from it: value = wait(2) status of the command, which may have left others */
	/* from it: value = children that it has, with --spare: members of the command's group; 0: the last, it has ended */
	RUNNER_LEFT,
	RUNNER_TERMINATE, /* to it: SIGTERM to all that there is */
	RUNNER_KILL,      /* to it: kill everything */
	RUNNER_RELEASE,   /* to it: end, and leave alone what there is */
};

struct runner_message {
	uint32_t type; /* enum runner_type */
	int32_t value;
};

/* argc, argv: of the program, from RUNNER_OPTION on. */
_Noreturn void runner_run(int argc, char **argv);
