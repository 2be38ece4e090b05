/*
 * An attachment, as the files of `ringside attach` share it: attachment.c (its life; input and signals), display.c (what
 * the server sends, on the terminal), socket.c (the connection, and another in its place), cover.c (the terminal is ours for
 * a while), view.c, chooser.c and scroll.c (for what) and switch.c (another session in the place of this one).
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

#define ATTACH_LINES 1000    /* of the session's scrollback, that go into that of the terminal */
#define ATTACH_FENCE_MS 500u /* a terminal that has not answered by then does not */
#define ATTACH_EARLY_MAX \
	8192u /* bytes typed before the session is there; more waits in the terminal */
#define ATTACH_SIGNALS 6
#define ATTACH_ID_MAX 128u                 /* bytes of a session's id */
#define ATTACH_READ_MAX 4096u              /* bytes that are read of the terminal at once */
#define ATTACH_PATIENCE_MS 10000u          /* with what the server is asked meanwhile */
#define ATTACH_KEPT_MAX ((size_t)32 << 20) /* bytes of a picture that is kept to be drawn later */

/* One of two connections: the second is made before the first is given up, so that nobody sees us leave. */
struct attach_line {
	struct attachment *a;
	struct client_socket *socket; /* NULL: there is none */
};

/* While the terminal shows something of ours: the session's screen as it was last drawn, at the attachment's offset. */
struct kept {
	char *bytes; /* of a snapshot; owned */
	size_t length, size;
	bool whole, failed;
	bool settled;        /* the offset is known where it was made */
	unsigned cols, rows; /* of the window then */
};

struct attachment {
	struct cli *cli;
	char session[ATTACH_ID_MAX + 1];
	struct attach_options options;
	struct attach_line lines[2], *line; /* line: the one that counts */
	struct client_socket *socket;       /* its socket; NULL: there is no connection */
	bool begun;                         /* what is typed goes to the session, */
	char early[ATTACH_EARLY_MAX];       /* and not yet here */
	size_t early_length;
	struct delivery delivery;
	char client[17]; /* what the server counts it by */
	bool heard;      /* the server has said on this connection what of it has arrived */
	uint64_t missing_ms; /* since when there is no connection on which it has (loop time); 0: there is one */
	bool away;   /* and it has been told that there is no server */
	bool synced; /* offset is valid */
	char epoch[17];
	uint64_t offset;        /* of the next byte to be drawn */
	uint64_t live;          /* of the next byte that comes */
	uint64_t snapshot_left; /* bytes of a snapshot that are to come */
	struct redraw redraw;
	struct guard guard; /* of what is drawn */
	struct keyboard keyboard;
	char typed[ATTACH_READ_MAX]; /* and not yet looked at, from typed_at on */
	size_t typed_at, typed_length;
	enum prefix_action wanted; /* what is to be done before more is looked at */
	bool busy;                 /* it is being done: what is typed is for that */
	bool hurried;              /* something that leaves has been typed meanwhile */
	bool covering, covered;    /* the terminal is about to show something of ours, and does */
	bool cover_late;           /* the server takes too long */
	bool uncovered;            /* the session has ended meanwhile: it is to be seen */
	bool resized;              /* the window, or what it shows is gone */
	struct kept kept;
	struct mirror mirror;
	struct key_reader keys; /* of what is ours */
	bool drawn;             /* something has been, since the terminal is ours */
	bool passed;            /* nothing is drawn: a snapshot of the right size is on its way */
	bool waited;            /* long enough for that */
	bool ready;             /* the server takes requests for snapshots */
	bool differs;           /* the session's size is not ours */
	bool foreign;           /* the screen shows what is not ours */
	bool dirty;             /* the screen shows a notice of ours, or has done so */
	bool noticed;           /* it does, with the cursor behind it */
	unsigned pause_ms;
	uv_poll_t input;
	uv_timer_t retry, fence, notice, size, cover;
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
/*
 * The session is no more: it is over, with that status, unless the next one is to be shown; and that is what to do with the
 * last words, which stand in reason.
 */
void attach_lose_session(struct attachment *a, int status, const char *how);
/* The session is there: what has been typed goes to it. Known already: nothing. */
void attach_begin(struct attachment *a);
/* Read what is typed (again). */
void attach_read_input(struct attachment *a);

/* What of our window is the session's. */
void display_size(const struct attachment *a, unsigned *ret_cols, unsigned *ret_rows);
/* Whether our window counts for the session's size. */
bool display_may_resize(const struct attachment *a);
/* Tell the server the size of our window. */
void display_send_size(struct attachment *a);
/* Draw it again; without what is above, if that has been drawn. */
void display_ask_snapshot(struct attachment *a);
/* Draw what has been kept, as if it had just come. */
void display_draw_kept(struct attachment *a);
/* Draw it as if it had just been attached, once it has come. */
void display_draw_anew(struct attachment *a);
/* What the server sends: a message, or bytes of a snapshot or of the session. */
void display_take_message(struct attachment *a, const char *text, size_t length);
void display_take_bytes(struct attachment *a, const void *bytes, size_t length);

/* Connect, now or as soon as the server can be reached; what there is goes once the new one is there. */
void socket_connect(struct attachment *a);
/* Whoever was before is given up. */
void socket_settle(struct attachment *a);
/* The notice goes, and the cursor to where it was: what comes is drawn there, until all is drawn anew. */
void socket_take_back_notice(struct attachment *a);
/* Give up all, and every attempt. */
void socket_drop(struct attachment *a);
/* Send a message, if there is a connection; message is taken. */
void socket_send(struct attachment *a, json_t *message);
/* Send what is typed, once, on this connection or the next; lost when there has been none for long. */
void socket_type(struct attachment *a, const char *bytes, size_t length);
/* The server has said how much of it has arrived: on a new connection, and later. taken: -1 when it does not know. */
void socket_take_up(struct attachment *a, int64_t taken);
void socket_take_receipt(struct attachment *a, int64_t taken);
/* Whatever was typed has arrived, as far as it can. Turns the loop. */
void socket_flush(struct attachment *a);

/*
 * What follows is called from no callback: it turns the loop, until it is done or the attachment over.
 */

/* Have the terminal for something of ours, and give it back to the session, which goes on where it was drawn last. */
void cover_open(struct attachment *a);
void cover_close(struct attachment *a);
/* Have a picture of what is drawn kept, with the offset behind it. Returns whether there is one. */
bool cover_keep(struct attachment *a);
/* Wait until there is a session to be covered; not for long. Returns whether there is. */
bool cover_await(struct attachment *a);
/* Have the terminal again, behind somebody else. */
void cover_show(void);
/* A snapshot, while the terminal is ours: as display_take_message() and display_take_bytes() call it. */
void cover_begin_kept(struct attachment *a, const json_t *message);
void cover_take_kept(struct attachment *a, const char *bytes, size_t length);
void cover_take_sync(struct attachment *a, uint64_t offset);

/* Carry out what stands behind the prefix. */
void switch_do(struct attachment *a, enum prefix_action action);
