/* The state of a wall, and what its files call in each other: wall.c, feed.c and view.c. */
#pragma once

#include "ws/client/attach/attach.h"
#include "ws/client/wall/crowd.h"
#include "ws/client/draw/key.h"
#include "ws/client/wall/tiling.h"

#include <stdint.h>

#define WALL_SIGNALS 6
#define WALL_PICTURE_MS 300u /* between two pictures of one session */
#define WALL_RETRY_MS 1000u  /* after a refused request */
#define WALL_SURVEY_MS 100u  /* between two requests for states that are not followed */
/* States that are followed by a stream. With the pictures, they stay below the server's limit of requests. */
#define WALL_FOLLOWED_MAX 80u

/* A wall. */
struct wall {
	struct cli *cli;
	struct attach_options options; /* for Enter */
	struct crowd crowd;
	struct tiling tiling;
	uint64_t chosen; /* serial of the chosen tile; 0: none */
	unsigned at;     /* its last index */
	unsigned page;   /* that is shown */
	bool dirty;      /* everything must be drawn */
	struct key_reader keys;
	/* The server: */
	struct client_socket *socket; /* NULL: not connected */
	bool opened, away;            /* connected; the foot says that the server is away */
	bool listed;                  /* the list of sessions has arrived */
	unsigned pause_ms;            /* before the next attempt to connect */
	unsigned followed;            /* number of state streams */
	uint64_t survey;     /* serial of the tile whose state is, or was last, requested */
	bool survey_pending; /* that request is pending */
	uint64_t survey_ms;  /* loop time of the next one */
	uv_timer_t retry, due;
	/* The terminal: */
	uv_poll_t input;
	uv_signal_t signals[WALL_SIGNALS];
	bool over, attach;  /* leave the loop; attach to the chosen session, and come back */
	int status;         /* exit status */
	const char *reason; /* error to print, or NULL */
};

/* Leave the wall with an exit status; reason: error to print, static, or NULL. */
void wall_end(struct wall *w, int status, const char *reason);

/* Connect, and retry until the server can be reached. */
void feed_open(struct wall *w);
/* Disconnect. The tiles keep their pictures. */
void feed_close(struct wall *w);
/* Send the requests that are due. */
void feed_request_due(struct wall *w);

/* Sort and arrange the tiles, after sessions or the window have changed. */
void view_arrange(struct wall *w);
/* Choose another tile. */
void view_move(struct wall *w, enum tiling_step step);
/* Whether a tile is on the page that is shown. */
bool view_is_shown(const struct wall *w, const struct tile *t);
/* Draw what has changed. */
void view_draw(struct wall *w);
