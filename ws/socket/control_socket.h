/*
 * The control socket: requests and answers on one WebSocket, in the protocol of the Sandbox container's /ws. Each request
 * goes to the dispatcher, as over HTTP.
 *
 * Memory is bounded. Events are pulled when they can be sent, one at a time from each stream in turn. A request begins only
 * while less than CONTROL_REPLIES_MAX bytes of answers wait. Requests beyond CONTROL_PENDING_MAX or CONTROL_BODIES_MAX are
 * refused. A client that does not read the refusals is closed with 1008.
 */
#pragma once

#include "ws/dispatcher.h"
#include "ws/socket/frames.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_MESSAGE_MAX ((size_t)16 << 20) /* as in the container */
#define CONTROL_PENDING_MAX 128u               /* unanswered requests of one socket */
#define CONTROL_BODIES_MAX CONTROL_MESSAGE_MAX /* bytes of their bodies */
/* While more bytes of answers than this wait, no request begins. */
#define CONTROL_REPLIES_MAX ((size_t)4 << 20)
#define CONTROL_REFUSALS_MAX 1024u           /* refusals that wait */
#define CONTROL_TURN_MAX ((size_t)256 << 10) /* bytes of one socket in one turn of the loop */

struct control_socket;

/* All control sockets. */
struct control_sockets {
	struct dispatcher *dispatcher; /* borrowed, like all here */
	struct metrics *metrics;
	struct control_socket *list;
	uint8_t *scratch; /* headroom and one frame */
};

/* Initialize all. Returns 0 or -ENOMEM. */
int control_sockets_open(
	struct control_sockets *all, struct dispatcher *dispatcher, struct metrics *metrics);

/* Free what control_sockets_open() has allocated. */
void control_sockets_close(struct control_sockets *all);

/*
 * Begin after the upgrade. The transport must live until closed() of control_socket_protocol. Returns NULL when
 * memory is short.
 */
struct control_socket *control_socket_open(struct control_sockets *all,
	const struct principal *principal, const char *peer,
	const struct frames_transport *transport, void *transport_user);

/* Calls of the transport; self is the struct control_socket. */
extern const struct frames_protocol control_socket_protocol;

/* Once a second: keep streams alive after quiet_s of silence. */
void control_sockets_sweep(struct control_sockets *all, unsigned quiet_s);

/* Close the sockets of a revoked link. */
void control_sockets_revoke(struct control_sockets *all, const char *link);

/* Close the sockets of a login that has ended. */
void control_sockets_log_out(struct control_sockets *all, const char *login);
