/* A session on the user's own terminal. */
#pragma once

#include "ws/client/connect/cli.h"

/* `ringside attach`. */
extern const struct command command_attach;

struct attach_options {
	bool read_only;
	bool no_resize;   /* the session keeps its size */
	bool clipboard;   /* programs may set the terminal's clipboard */
	const char *name; /* that others see; NULL: the user's */
	int detach_key;   /* a control character; 0: the default; -1: none */
	int prefix_key;   /* likewise; 0 or -1: none */
	bool status;      /* with a line of ours below it */
	bool next;        /* when the session ends, the next one is shown */
};

/* Why one cannot be shown, with its id. */
#define ATTACH_WITHIN "this is session %s: it cannot be shown within itself"

/* The session that this command line is in, of the server that it is for, or NULL: it cannot be shown within itself. */
const char *attach_here(const struct cli *cli);

/* Attach until it is over. The connection is open. options may be NULL. Returns the exit status. */
int attach_session(struct cli *cli, const char *session, const struct attach_options *options);
