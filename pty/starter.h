/*
 * The starter: the parent of a session's shells if they belong to another user or live in a
 * sandbox. It is the holder's program, executed by the program that changes the user and sets up
 * the sandbox:
 *
 *   ringside-holder --starter --directory PATH --cwd DIR [--respawn] -- SHELL ARGUMENT...
 *
 * It inherits the slave of the terminal as standard output, a socket to the holder as descriptor
 * STARTER_SOCKET_FD, and the files of enum wire_fixed_fd at their fixed descriptors, where shells open
 * them as /proc/PARENT/fd/N. PATH is the session's directory inside the sandbox; it is opened as
 * descriptor SUPERVISE_DIRECTORY_FD.
 *
 * The starter is the subreaper of all processes of the session. It exits when the holder closes the
 * socket, or when its last child has ended and no shell follows; then the kernel kills its sandbox.
 *
 * The holder uses the starter's messages only for this session.
 */
#pragma once

#include <stdint.h>

#define STARTER_OPTION "--starter"
#define STARTER_SOCKET_FD 4

/* Message types. Each packet is one struct starter_message. */
enum starter_type {
	STARTER_READY = 1, /* from the starter: value = its pid in its own pid namespace */
	STARTER_START,     /* to the starter: start a shell */
	STARTER_ENTERED,   /* from the child before exec of the shell: the kernel adds its pid */
	STARTER_STARTED,   /* from the starter: the shell has been executed */
	STARTER_FAILED, /* from the starter: value = enum report_stage, error = a negative errno */
	STARTER_ENDED,  /* from the starter: value = the shell's wait(2) status */
	STARTER_NOTE_CWD, /* to the starter: start the next shell in the current one's directory */
	STARTER_SIGNAL,   /* to the starter: the session ends; send signal value to all children */
	/*
	 * To the starter: put the slave that comes with it at WIRE_FIXED_FD_STDERR_PTY, or close that
	 * if there is none. The answer has the same type, value = 1 if the slave is there.
	 */
	STARTER_STDERR_PTY,
};

/* One message, in either direction. */
struct starter_message {
	uint32_t type; /* enum starter_type */
	int32_t value;
	int32_t error;
};

/* Run the starter. argv[0] is STARTER_OPTION, its arguments follow. */
_Noreturn void starter_run(int argc, char **argv);
