/* Draws a session from screens of the server, above a status line: `ringside attach --status`. */
#pragma once

#include "ws/client/attach/modes.h"
#include "ws/client/attach/status.h"
#include "ws/client/draw/picture.h"

#include <stdint.h>
#include <uv.h>

struct attachment;

/* The mirror of an attachment. */
struct mirror {
	bool on; /* the session is drawn from screens instead of its bytes */
	struct picture picture;
	bool cursor;                /* the cursor is visible */
	struct modes wanted, shown; /* modes of the session and of the terminal */
	struct status status;
	char title[STATUS_NAME_MAX];     /* of the terminal */
	uint64_t rows[PICTURE_ROWS_MAX]; /* hashes of what each row of the terminal shows */
	bool anew;                       /* the hashes are unknown: draw all rows */
	struct client_socket *socket;    /* NULL: not connected */
	bool opened;                     /* the socket is open */
	bool fetched;                    /* a request is under way */
	bool stale;                      /* the session has changed since the last request */
	unsigned serial;      /* of requests; answers of other sessions have other ones */
	unsigned pause_ms;    /* before the next attempt to connect */
	uint64_t since;       /* version that the request has */
	uint64_t due_ms;      /* loop time of the next request */
	bool back;            /* back_offset is known */
	uint64_t back_offset; /* where drawing by bytes continues */
	uv_timer_t due, retry, clock;
};

/* Initialize the handles and the status. */
void mirror_init(struct attachment *a);

/* Close it. The handles belong to the loop until it has run once. */
void mirror_finish(struct attachment *a);

/* Start to draw the session from screens. Runs the loop. */
void mirror_open(struct attachment *a);

/* Draw it by its bytes again, including those printed meanwhile. Runs the loop. */
void mirror_close(struct attachment *a);

/* Clear the terminal and draw all rows, because it shows something else. */
void mirror_show(struct attachment *a);

/* The screen may have changed: fetch it. */
void mirror_mark_stale(struct attachment *a);

/* Another session is attached. */
void mirror_begin(struct attachment *a);

/* Handle a message of the terminal socket. */
void mirror_handle_message(struct attachment *a, const json_t *message);

/* Show that the server is away. */
void mirror_show_away(struct attachment *a);
