/*
 * The state of an attachment, which these files share: attachment.c (life, input, signals),
 * display.c (messages and output of the server), socket.c (connections), cover.c (views over the
 * session: view.c, chooser.c, scroll.c), mirror.c (drawing with a status line) and switch.c (keys
 * behind the prefix).
 */
#pragma once

#include "ws/client/attach/attach.h"
#include "ws/client/attach/delivery.h"
#include "ws/client/attach/guard.h"
#include "ws/client/attach/keyboard.h"
#include "ws/client/attach/mirror.h"
#include "ws/client/attach/prefix.h"
#include "ws/client/attach/redraw.h"
#include "ws/client/draw/key.h"

#include <stdint.h>

#define ATTACH_LINES 1000      /* lines of scrollback that are written to the terminal */
#define ATTACH_FENCE_MS 500u   /* time limit for the terminal's answer to a fence */
#define ATTACH_EARLY_MAX 8192u /* bytes typed before the session is shown */
#define ATTACH_SIGNALS 6
#define ATTACH_ID_MAX 128u                 /* bytes of a session's id */
#define ATTACH_READ_MAX 4096u              /* bytes read from the terminal at once */
#define ATTACH_PATIENCE_MS 10000u          /* time limit of requests of a view */
#define ATTACH_KEPT_MAX ((size_t)32 << 20) /* bytes of a kept snapshot */

/*
 * One of two connections. The second one is opened before the first is closed, so that other
 * clients do not see us leave.
 */
struct attach_line {
	struct attachment *a;
	struct client_socket *socket; /* NULL: not connected */
};

/* A snapshot of the session at the attachment's offset, to be drawn again after a view. */
struct kept {
	char *bytes; /* owned */
	size_t length, size;
	bool whole, failed;
	bool settled;        /* the offset is that of the snapshot */
	unsigned cols, rows; /* of our window at that time */
};

/* An attachment. */
struct attachment {
	struct cli *cli;
	char session[ATTACH_ID_MAX + 1];
	struct attach_options options;
	struct attach_line lines[2], *line; /* line: the current one */
	struct client_socket *socket;       /* of line; NULL: not connected */
	bool begun;                         /* the session is shown, and input is sent */
	char early[ATTACH_EARLY_MAX];       /* input before that */
	size_t early_length;
	struct delivery delivery;
	char client[17];               /* our id, by which the server counts our input */
	bool heard;                    /* the server has confirmed input on this connection */
	uint64_t unconfirmed_since_ms; /* loop time since when `heard` is false; 0: it is true */
	bool away;                     /* the user has been told that the server is away */
	bool synced;                   /* offset is valid */
	char epoch[17];
	uint64_t offset;        /* of the next byte to draw */
	uint64_t live;          /* of the next byte to receive */
	uint64_t snapshot_left; /* bytes of a snapshot still to receive */
	struct redraw redraw;
	struct guard guard; /* filters output */
	struct keyboard keyboard;
	char typed[ATTACH_READ_MAX]; /* input that is not parsed yet, from typed_at on */
	size_t typed_at, typed_length;
	enum prefix_action wanted; /* to be executed before more input is parsed */
	bool busy;                 /* an action is being executed; it gets the input */
	bool hurried;              /* a key that leaves was typed meanwhile */
	bool covering;             /* waiting for the snapshot before a view */
	bool covered;              /* a view is shown */
	bool request_timed_out;    /* the time limit of the server's answer is over */
	bool uncovered;            /* the session has ended: leave the view */
	bool resized;              /* draw the view again */
	struct kept kept;
	struct mirror mirror;
	struct key_reader keys; /* of views */
	bool drawn;             /* output of the session has been drawn */
	bool passed;            /* draw nothing: wait for a snapshot of our size */
	bool waited;            /* but no longer */
	bool ready;             /* the server accepts requests for snapshots */
	bool differs;           /* the session's size is not ours */
	bool foreign;           /* the screen shows output of other programs */
	bool dirty;             /* a notice has changed the screen */
	bool noticed;           /* the notice is shown, with the cursor behind it */
	unsigned pause_ms;
	uv_poll_t input;
	uv_timer_t retry, fence, notice, size, cover;
	uv_signal_t signals[ATTACH_SIGNALS];
	bool over;
	int status;       /* exit status */
	char reason[160]; /* printed at the end; "": detached */
	const char *how;  /* the reason as a word, for --json */
};

/* End the attachment with an exit status. how: the reason as one word, for --json. */
void attach_end(struct attachment *a, int status, const char *how);

/* End it because the terminal is gone. */
void attach_end_no_terminal(struct attachment *a);

/* End it because the session has ended, with a->reason set, or show the next session. */
void attach_end_or_next(struct attachment *a, int status, const char *how);

/* The session is shown: send it the early input. Later calls do nothing. */
void attach_begin(struct attachment *a);

/* Start reading input again. */
void attach_read_input(struct attachment *a);

/* The size of our window without the status line. */
void display_size(const struct attachment *a, unsigned *ret_cols, unsigned *ret_rows);

/* Whether our window may resize the session. */
bool display_may_resize(const struct attachment *a);

/* Send the size of our window to the server. */
void display_send_size(struct attachment *a);

/* Ask for a snapshot; with scrollback only the first time. */
void display_ask_snapshot(struct attachment *a);

/* Draw the kept snapshot. */
void display_draw_kept(struct attachment *a);

/* Draw the next snapshot as if the session had just been attached. */
void display_draw_anew(struct attachment *a);

/* Handle a message of the server. */
void display_handle_message(struct attachment *a, const char *text, size_t length);

/* Handle bytes of a snapshot or of output. */
void display_handle_bytes(struct attachment *a, const void *bytes, size_t length);

/*
 * Open a new connection, now or as soon as possible. The old one stays until the new one is
 * attached.
 */
void socket_connect(struct attachment *a);

/* Close the old connection. */
void socket_close_old(struct attachment *a);

/* Erase the notice and restore the cursor, so that output continues where it was. */
void socket_erase_notice(struct attachment *a);

/* Close all connections and stop trying. */
void socket_disconnect(struct attachment *a);

/* Send a message if there is a connection. Takes message. */
void socket_send(struct attachment *a, json_t *message);

/*
 * Send input exactly once, on this connection or the next; drop it if there has been none for long.
 */
void socket_send_input(struct attachment *a, const char *bytes, size_t length);

/* A new connection is attached. taken: bytes of our input that have arrived; -1: unknown. */
void socket_resume_input(struct attachment *a, int64_t taken);

/* A receipt for input on the current connection. */
void socket_handle_receipt(struct attachment *a, int64_t taken);

/* Wait a limited time until all input has arrived. Runs the loop. */
void socket_flush(struct attachment *a);

/*
 * Clear the terminal for a view, after having kept a snapshot of the session. Runs the loop, so do
 * not call it from a callback.
 */
void overlay_open(struct attachment *a);

/* Leave the view: draw the snapshot and continue the session at its offset. */
void overlay_close(struct attachment *a);

/* Keep a snapshot and its offset. Returns whether one has come. Runs the loop. */
bool overlay_keep_snapshot(struct attachment *a);

/* Wait a limited time until the session is shown. Returns whether it is. Runs the loop. */
bool overlay_await_session(struct attachment *a);

/* Clear the terminal for a view again, for example after a resize. */
void overlay_clear(void);

/* A snapshot begins while a view is shown or waits for it. */
void overlay_begin_snapshot(struct attachment *a, const json_t *message);

/* Bytes of that snapshot. */
void overlay_add_snapshot(struct attachment *a, const char *bytes, size_t length);

/* The offset behind that snapshot, or where output continues without one. */
void overlay_handle_sync(struct attachment *a, uint64_t offset);

/* Execute an action of a key behind the prefix. Runs the loop. */
void switch_run(struct attachment *a, enum prefix_action action);
