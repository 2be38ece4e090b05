/* What node_link.c and node_links.c share. */
#pragma once

#include "ws/net/node_address.h"
#include "ws/net/node_link.h"
#include "ws/net/outgoing.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define NODE_LINK_RECEIVE_BYTES (32u << 10)
#define NODE_LINK_PROTOCOL "ringside-node" /* its name in libwebsockets */

struct node_links {
	uv_loop_t *loop;
	struct lws_context *context;
	struct node_link *list;
	uv_timer_t tick; /* active while there are links */
	uv_timer_t turn; /* active if one has work to do in the next turn of the loop */
};

struct node_link {
	struct node_link *prev, *next;
	struct node_links *all;
	const struct node_link_callbacks *callbacks; /* NULL: it is closed */
	void *user;
	struct node_address address;
	char *authorization;        /* value of the header; owned */
	struct node_lookup *lookup; /* NULL: over */
	struct node_ips ips;
	unsigned tried; /* of them */
	bool dial_due;
	struct lws *wsi; /* NULL: none, or over */
	bool starting;   /* inside of lws_client_connect_via_info() */
	bool failed;     /* it failed there */
	bool asked, open, paused;
	uint64_t begun_ms, tried_ms;   /* loop time: of the link, of the latest attempt */
	uint64_t heard_ms, pinged_ms;  /* loop time; the latter 0: no ping is unanswered */
	uint64_t ponged_ms, closed_ms; /* loop time */
	size_t message_bytes;          /* of the node's message, as far as it has come */
	struct outgoing_queue queue;
	struct node_link_end end;
};

/* The time, on the loop's clock. */
static inline uint64_t node_link_now_ms(const struct node_link *l)
{
	return uv_now(l->all->loop);
}

/* Handle a callback of libwebsockets; arguments and result are its. */
int node_link_event(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length);

/* The list of all links. */
void node_links_add(struct node_link *l);
void node_links_remove(struct node_link *l);

/* Let node_link_turn() be called: libwebsockets must not be called from some of its callbacks. */
void node_links_want_turn(struct node_links *all);

/* Do what is due; this may free the link. */
void node_link_turn(struct node_link *l);

/* Check time limits; this may free the link. */
void node_link_tick(struct node_link *l);
