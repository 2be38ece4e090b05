/*
 * Terminal sockets whose session is not at this node: once the node is known, their frames pass to it, or a terminal of this
 * server is opened. What comes meanwhile is held.
 */
#pragma once

#include "ws/auth/auth.h"
#include "ws/fleet/routing.h"
#include "ws/net/node_socket.h"
#include "ws/socket/terminal.h"

#define ROUTED_TERMINAL_HELD_MAX ((size_t)64 << 10) /* bytes of a client that are held */

struct routed_terminal;

/* All is borrowed, except the list. */
struct routed_terminals {
	struct routings *routings;
	struct terminals *terminals;
	const struct auth *auth;
	struct node_sockets *sockets;
	struct routed_terminal *list;
	struct terminal_elsewhere hook;
};

/* Initialize, and let the terminals use it. */
void routed_terminals_open(struct routed_terminals *all, struct terminals *terminals);

/* The server ends: let go of the connections to nodes. */
void routed_terminals_close(struct routed_terminals *all);

/* A node does not live any more: close the sockets to it. */
void routed_terminals_lose(struct routed_terminals *all, const char *node);
