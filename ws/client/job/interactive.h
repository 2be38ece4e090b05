/* A command that is talked to: our terminal is that of the session for as long as it runs. */
#pragma once

#include "ws/client/attach/guard.h"
#include "ws/client/attach/keyboard.h"
#include "ws/client/connect/cli.h"

struct interactive {
	struct cli *cli;
	const char *session;
	void (*left)(void *user); /* the key that detaches was there; it closes nothing */
	void *user;
	struct client_socket *socket; /* what is typed goes there, and the size; NULL: there is none now */
	bool opened;                  /* the terminal is ours */
	bool ready, refused;          /* the session has our size, or there is no way to it */
	bool begun;                   /* what is typed goes to the command */
	uv_poll_t input;
	uv_signal_t resized;
	uv_timer_t retry;
	struct keyboard keyboard;
	struct guard guard;
};

/*
 * Take our terminal, and give the session its size; user and left must be set. Nothing is read before
 * interactive_begin(). Returns 0, or the status to end with; then standard error says why.
 */
int interactive_open(struct interactive *i, struct cli *cli, const char *session);
void interactive_begin(struct interactive *i);

/* What the command prints; a terminal gets of it what `ringside attach` gives it. Returns false when that is gone. */
bool interactive_write(struct interactive *i, const char *bytes, size_t length);

/* Give the terminal back. Turns the loop; not open: nothing. */
void interactive_close(struct interactive *i);
