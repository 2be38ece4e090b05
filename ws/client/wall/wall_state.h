/*
 * A wall, as its files share it: wall.c (the command; keys and signals), feed.c (what the server tells) and view.c (what is
 * seen of it).
 */
#pragma once

#include "ws/client/attach/attach.h"
#include "ws/client/wall/crowd.h"
#include "ws/client/draw/key.h"
#include "ws/client/wall/tiling.h"

#include <stdint.h>

#define WALL_SIGNALS 6
#define WALL_REST_MS 300u   /* between two pictures of one session */
#define WALL_RETRY_MS 1000u /* after a refusal */
#define WALL_SURVEY_MS 100u /* between two looks at sessions whose state is not followed */
#define WALL_FOLLOWED_MAX \
	80u /* states that are; with the pictures fewer than the server takes at once */

struct wall {
	struct cli *cli;
	struct attach_options options; /* with which Enter attaches */
	struct crowd crowd;
	struct tiling tiling;
	uint64_t chosen; /* its serial; 0: none */
	unsigned at;     /* where it stood last */
	unsigned page;   /* that is shown */
	bool dirty;      /* all of it */
	struct key_reader keys;
	/* The server: */
	struct client_socket *socket; /* NULL: there is no connection */
	bool opened, away;            /* away: it has been said */
	bool listed;                  /* the sessions are known */
	unsigned pause_ms;            /* before the next connection */
	unsigned followed;            /* states that are followed */
	uint64_t survey;              /* the serial of the tile that is looked at, or was last */
	bool surveying;
	uint64_t survey_ms; /* of the next look */
	uv_timer_t retry, due;
	/* The terminal: */
	uv_poll_t input;
	uv_signal_t signals[WALL_SIGNALS];
	bool over, attach;  /* attach: the chosen one, and then go on */
	int status;         /* to end with */
	const char *reason; /* what to complain of, or NULL */
};

/* It is over: with that status, complaining of reason unless it is NULL. */
void wall_end(struct wall *w, int status, const char *reason);

/* Connect, now or as soon as the server can be reached. */
void feed_open(struct wall *w);
/* Give it up. What has been shown stays. */
void feed_close(struct wall *w);
/* Ask for what is due of those that are shown. */
void feed_look(struct wall *w);

/* Who is there, in which order, or the window has changed. */
void view_arrange(struct wall *w);
/* Choose another one. */
void view_move(struct wall *w, enum tiling_step step);
/* Whether it is on the page that is shown. */
bool view_shows(const struct wall *w, const struct tile *t);
/* Draw what has changed. */
void view_draw(struct wall *w);
