/*
 * The session ids over HTTP. An id is a signed text that contains the whole session, so that the
 * server need not store it, and a client can continue with a restarted server. It is valid only
 * together with the credentials that it was issued for, and grants no further rights. Pure but for
 * the random number.
 */
#pragma once

#include "ws/auth/auth.h"
#include "ws/mcp/sessions.h"

#include <stdbool.h>

#define MCP_TICKET_MAC 32u /* hexadecimal digits */

/* Bytes of ID.FLAGS.NAME.MAC with its NUL; NAME is the client's name in base64. */
#define MCP_TICKET_SIZE \
	(MCP_SESSION_ID_SIZE + 3 + (MCP_CLIENT_SIZE + 2) / 3 * 4 + 1 + MCP_TICKET_MAC + 1)

#define MCP_TICKET_SIGNED_MAX 512u /* bytes that mcp_ticket_mac() can sign */

/* The content of an id. */
struct mcp_ticket {
	char id[MCP_SESSION_ID_SIZE];
	char client[MCP_CLIENT_SIZE]; /* name of the program, or "" */
	bool batches;                 /* its revision has batches */
	bool elicits;                 /* the client supports elicitation by URL */
};

/* Set t->id to a random id. Returns 0 or a negative errno. */
int mcp_ticket_create_id(struct mcp_ticket *t);

/* The signature of text for p. length: at most MCP_TICKET_SIGNED_MAX. key: of auth_derive(). */
void mcp_ticket_mac(const char *text, size_t length, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], char mac[MCP_TICKET_MAC + 1]);

/* Write and sign a ticket for p. */
void mcp_ticket_sign(const struct mcp_ticket *t, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], char text[MCP_TICKET_SIZE]);

/* Parse a text. Returns false, with *ret_ticket untouched, unless it was signed for p. */
bool mcp_ticket_read(const char *text, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], struct mcp_ticket *ret_ticket);
