/*
 * The starter: the parent of a session's shells where the holder cannot be it, because they are another user's, or live in
 * a sandbox. It is the holder's program, executed behind what changes the user and makes the sandbox:
 *
 *   ringside-holder --starter --directory PATH --cwd DIR [--respawn] -- SHELL ARGUMENT...
 *
 * It inherits the slave of the terminal as standard output, a socket to the holder as STARTER_SOCKET, and the files of
 * enum wire_place at their places: shells open those by way of their parent, whichever that is. PATH is the session's
 * directory as it is there, which it opens as descriptor SUPERVISE_DIRECTORY. It is the subreaper of all that its shells
 * leave. Without the holder it ends, and in a sandbox everything with it; when its last child has ended and no shell
 * follows, it ends, too.
 *
 * The holder trusts it with nothing but the truth about its own session.
 */
#pragma once

#include <stdint.h>

#define STARTER_OPTION "--starter"
#define STARTER_SOCKET 4

/* One struct starter_message a packet. */
enum starter_type {
	STARTER_READY = 1,  /* from it: value = its pid where it lives */
	STARTER_START,      /* to it: start a shell */
	STARTER_ENTERED,    /* from what becomes the shell: the kernel adds its pid */
	STARTER_STARTED,    /* from it: the shell has been executed */
	STARTER_FAILED,     /* from it: value = enum report_stage, error = a negative errno */
	STARTER_ENDED,      /* from it: value = the shell's wait(2) status */
	STARTER_NOTE_CWD,   /* to it: the next shell starts where this one is now */
	STARTER_SIGNAL,     /* to it: the session ends: signal value to all of its children */
	STARTER_STDERR_PTY, /* to it: the slave that comes with it is at WIRE_PLACE_STDERR_PTY from now on, or none is; it answers the same, value = whether one is */
};

struct starter_message {
	uint32_t type; /* enum starter_type */
	int32_t value;
	int32_t error;
};

/* argc, argv: of the program, from STARTER_OPTION on. */
_Noreturn void starter_run(int argc, char **argv);
