/*
 * The multiplex socket, /ws/mux: terminals and requests of one browser tab on one WebSocket. Each of its channels is what a
 * WebSocket of its own would be: /ws/pty or /ws. See "The multiplex socket" in ws/README.md.
 *
 * Channels take turns, a frame each. Nothing is queued for them: their protocols send when the socket has room.
 */
#pragma once

#include "ws/socket/control_socket.h"
#include "ws/socket/mux_frame.h"
#include "ws/socket/terminal.h"

#define MUX_CHANNELS_MAX 64u   /* of one socket */
#define MUX_CONTROLS_MAX 8u    /* control sockets among them; each may use 20 MiB of memory */
#define MUX_NOTES_MAX 256u     /* messages that wait; a client that does not read them is closed */
#define MUX_MESSAGE_MAX 16384u /* bytes of a text frame, which opens or closes a channel */
#define MUX_TEXT_MAX FRAMES_LOOP_PARSE_MAX /* bytes of a channel's text */

struct mux_socket;

/* What channels belong to. */
struct mux_sockets {
	struct terminals *terminals; /* borrowed, like all here */
	struct control_sockets *controls;
	struct metrics *metrics;
};

/* Begin after the upgrade. The transport must live until closed(). Returns NULL when memory is short. */
struct mux_socket *mux_socket_open(const struct mux_sockets *all, const struct principal *principal,
	const char *peer, const struct frames_transport *transport, void *transport_user);

/* Calls of the transport; self is the struct mux_socket. */
extern const struct frames_protocol mux_socket_protocol;
