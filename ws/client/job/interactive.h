/* Connects our terminal to the session of an interactive command while it runs. */
#pragma once

#include "ws/client/attach/guard.h"
#include "ws/client/attach/keyboard.h"
#include "ws/client/connect/cli.h"

/* The caller sets left and user, and zeroes the rest. */
struct interactive {
	struct cli *cli;
	const char *session;
	void (*left)(void *user); /* the detach key was typed, or our terminal is gone */
	void *user;
	struct client_socket *socket; /* for input and size; NULL: not connected */
	bool opened;                  /* our terminal is raw */
	bool ready;                   /* the session has our size */
	bool refused;                 /* the server refuses the connection */
	bool begun;                   /* input is read */
	uv_poll_t input;
	uv_signal_t resized;
	uv_timer_t retry;
	struct keyboard keyboard;
	struct guard guard;
};

/*
 * Make our terminal raw, and give the session its size. Returns 0 or the exit status; errors are
 * reported.
 */
int interactive_open(struct interactive *i, struct cli *cli, const char *session);

/* Start to send input. */
void interactive_begin(struct interactive *i);

/*
 * Write output of the command to our terminal, filtered as by `ringside attach`. Returns false if
 * the terminal is gone.
 */
bool interactive_write(struct interactive *i, const char *bytes, size_t length);

/* Restore the terminal. Runs the loop once. Does nothing if it is not open. */
void interactive_close(struct interactive *i);
