/*
 * The control socket: requests and their answers on one WebSocket, whatever carries its frames. It speaks
 * the protocol of the Sandbox container's /ws; each request goes to the dispatcher, as over HTTP.
 *
 * Memory is bounded whatever the peer does. Events are pulled when they can be sent, one at a time, from
 * each stream in turn. A request is begun only while less than CONTROL_REPLIES_MAX bytes of answers wait;
 * the others wait, and beyond CONTROL_PENDING_MAX of them, or CONTROL_BODIES_MAX bytes, more are refused.
 * Whoever goes on even then without reading the refusals is closed with 1008.
 */
#pragma once

#include "ws/dispatcher.h"
#include "ws/socket/frames.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_MESSAGE_MAX ((size_t)16 << 20) /* as many as the container takes */
#define CONTROL_PENDING_MAX 128u /* requests of one connection that are not answered */
#define CONTROL_BODIES_MAX CONTROL_MESSAGE_MAX /* bytes of their bodies */
#define CONTROL_REPLIES_MAX \
	((size_t)4 << 20)          /* bytes of answers that wait, to begin another request */
#define CONTROL_REFUSALS_MAX 1024u /* refusals that wait */
#define CONTROL_TURN_MAX ((size_t)256 << 10) /* bytes that are sent before others have their turn */

struct control_socket;

/* All control sockets. */
struct control_sockets {
	struct dispatcher *dispatcher; /* borrowed, like all here */
	struct metrics *metrics;
	struct control_socket *list;
	uint8_t *scratch; /* headroom and one frame */
};

int control_sockets_open(
	struct control_sockets *all, struct dispatcher *dispatcher, struct metrics *metrics);
void control_sockets_close(struct control_sockets *all);

/*
 * Begin, after the upgrade. The transport's memory must live until closed() of control_socket_protocol. Returns
 * NULL when memory is short.
 */
struct control_socket *control_socket_open(struct control_sockets *all,
	const struct principal *principal, const char *peer,
	const struct frames_transport *transport, void *transport_user);

/* What the transport calls, with what control_socket_open() returned. */
extern const struct frames_protocol control_socket_protocol;

/* Once a second: keep streams alive that have been silent for quiet_s, and end what expired by now_ms. */
void control_sockets_sweep(struct control_sockets *all, unsigned quiet_s, uint64_t now_ms);

/* Close what a revoked link, or a login that has ended, has open. */
void control_sockets_revoke(struct control_sockets *all, const char *link);
void control_sockets_log_out(struct control_sockets *all, const char *login);
