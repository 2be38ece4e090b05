/*
 * An attachment, as the files of `ringside attach` share it: attach.c (the command; input and signals), display.c (what
 * the server sends, on the terminal) and socket.c (the connection, and another in its place).
 */
#pragma once

#include "ws/client/attach/attach.h"
#include "ws/client/attach/guard.h"
#include "ws/client/attach/keyboard.h"
#include "ws/client/attach/redraw.h"

#include <stdint.h>

#define ATTACH_LINES 1000    /* of the session's scrollback, that go into that of the terminal */
#define ATTACH_FENCE_MS 500u /* a terminal that has not answered by then does not */
#define ATTACH_EARLY_MAX \
	8192u /* bytes typed before the session is there; more waits in the terminal */
#define ATTACH_SIGNALS 6

struct attachment {
	struct cli *cli;
	const char *session;
	struct attach_options options;
	struct client_socket *socket; /* NULL: there is no connection */
	bool begun;                   /* what is typed goes to the session, */
	char early[ATTACH_EARLY_MAX]; /* and not yet here */
	size_t early_length;
	bool synced; /* offset is valid */
	char epoch[17];
	uint64_t offset;        /* of the next byte */
	uint64_t snapshot_left; /* bytes of a snapshot that are to come */
	struct redraw redraw;
	struct guard guard; /* of what is drawn */
	struct keyboard keyboard;
	bool drawn;   /* something has been, since the terminal is ours */
	bool passed;  /* nothing is drawn: a snapshot of the right size is on its way */
	bool waited;  /* long enough for that */
	bool ready;   /* the server takes requests for snapshots */
	bool differs; /* the session's size is not ours */
	bool foreign; /* the screen shows what is not ours */
	bool dirty;   /* the screen shows a notice of ours */
	unsigned pause_ms;
	uv_poll_t input;
	uv_timer_t retry, fence, notice, size;
	uv_signal_t signals[ATTACH_SIGNALS];
	bool over;
	int status;       /* to end with */
	char reason[160]; /* the last words */
	const char *how;  /* for --json */
};

/* It is over: with that status, for a reason that is one word for --json. */
void attach_end(struct attachment *a, int status, const char *how);
/* The terminal is gone. */
void attach_lose_terminal(struct attachment *a);
/* The session is there: what has been typed goes to it. Known already: nothing. */
void attach_begin(struct attachment *a);
/* Read what is typed (again). */
void attach_read_input(struct attachment *a);

/* Whether our window counts for the session's size. */
bool display_may_resize(const struct attachment *a);
/* Tell the server the size of our window. */
void display_send_size(struct attachment *a);
/* Draw it again; without what is above, if that has been drawn. */
void display_ask_snapshot(struct attachment *a);
/* What the server sends: a message, or bytes of a snapshot or of the session. */
void display_take_message(struct attachment *a, const char *text, size_t length);
void display_take_bytes(struct attachment *a, const void *bytes, size_t length);

/* Connect, now or as soon as the server can be reached. */
void socket_connect(struct attachment *a);
/* Send a message, if there is a connection; message is taken. */
void socket_send(struct attachment *a, json_t *message);
