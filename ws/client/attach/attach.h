/* `ringside attach`: shows a session on the user's terminal. */
#pragma once

#include "ws/client/connect/cli.h"

/* The command. */
extern const struct command command_attach;

/* Options of attach_session(). Zeroed: the defaults. */
struct attach_options {
	bool read_only;
	bool no_resize;   /* do not resize the session */
	bool clipboard;   /* programs may set the terminal's clipboard */
	const char *name; /* shown to other clients; NULL: the user's */
	int detach_key;   /* a control character; 0: the default; -1: none */
	int prefix_key;   /* likewise; 0 or -1: none */
	bool status;      /* with a status line */
	bool next;        /* when the session ends, show the next one */
};

/* Error text with the session's id. */
#define ATTACH_WITHIN "this is session %s: it cannot be shown within itself"

/* The id of the session that we run in, if it is one of the chosen server; else NULL. */
const char *attach_own_session(const struct cli *cli);

/*
 * Attach until the user detaches or the session ends. Call it after connection_open(). options may
 * be NULL. Returns the exit status.
 */
int attach_session(struct cli *cli, const char *session, const struct attach_options *options);
