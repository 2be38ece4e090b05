/* A session as the server's screens show it, above a line of ours: what `ringside attach --status` is made of. */
#pragma once

#include "ws/client/attach/modes.h"
#include "ws/client/attach/status.h"
#include "ws/client/draw/picture.h"

#include <stdint.h>
#include <uv.h>

struct attachment;

struct mirror {
	bool on; /* the session is drawn from screens, and not by its bytes */
	struct picture picture;
	bool cursor;                /* it is to be seen */
	struct modes wanted, shown; /* what the session has; what the terminal has been given */
	struct status status;
	char title[STATUS_NAME_MAX];     /* that the terminal has been given */
	uint64_t rows[PICTURE_ROWS_MAX]; /* sums of what stands in each row of the terminal */
	bool anew;                       /* they are not known */
	struct client_socket *socket;    /* NULL: there is no connection */
	bool opened, fetched, stale;     /* stale: the session has changed since it was asked for */
	unsigned serial;        /* of what is asked for: of another session there was another */
	unsigned pause_ms;      /* before the next connection */
	uint64_t since, due_ms; /* before then no more is asked; of the loop's clock */
	bool back;              /* where bytes were drawn last is known, and */
	uint64_t back_offset;   /* they go on there */
	uv_timer_t due, retry, clock;
};

/* Around an attachment; before and after it nothing else of this is called. */
void mirror_init(struct attachment *a);
void mirror_finish(struct attachment *a);

/* Draw the session from screens; and by its bytes again, with all that it has printed meanwhile. These turn the loop. */
void mirror_open(struct attachment *a);
void mirror_close(struct attachment *a);

/* The terminal shows something else: draw all of it again. */
void mirror_show(struct attachment *a);
/* The session may look otherwise now. */
void mirror_touch(struct attachment *a);
/* Another session is shown. */
void mirror_begin(struct attachment *a);
/* What the terminal socket tells. */
void mirror_take_message(struct attachment *a, const json_t *message);
/* The server is away, for longer than a moment. */
void mirror_miss_server(struct attachment *a);
