/*
 * The ids of MCP's sessions over HTTP: signed, with all there is to be known of one, so that no server has to remember
 * them, and a client that never initializes again goes on with the next. One is worth something only together with the
 * credentials of who was given it, and opens nothing that those do not. Pure but for the random number.
 */
#pragma once

#include "ws/auth/auth.h"
#include "ws/mcp/sessions.h"

#include <stdbool.h>

#define MCP_TICKET_MAC 32u /* digits */
/* ID.FLAGS.NAME.MAC, the name of the client in base64 */
#define MCP_TICKET_SIZE \
	(MCP_SESSION_ID_SIZE + 3 + (MCP_CLIENT_SIZE + 2) / 3 * 4 + 1 + MCP_TICKET_MAC + 1)

#define MCP_TICKET_SIGNED_MAX 512u /* bytes of what is signed */

struct mcp_ticket {
	char id[MCP_SESSION_ID_SIZE];
	char client[MCP_CLIENT_SIZE]; /* name of the program, or "" */
	bool batches;                 /* its revision has them */
	bool elicits;                 /* it can have a person open an address */
};

/* A new random id. Returns 0 or a negative errno. */
int mcp_ticket_draw(struct mcp_ticket *t);

/* The signature of the first length (at most MCP_TICKET_SIGNED_MAX) bytes of text, for p. */
void mcp_ticket_mac(const char *text, size_t length, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], char mac[MCP_TICKET_MAC + 1]);

/* What p is given. key: of auth_derive(). */
void mcp_ticket_sign(const struct mcp_ticket *t, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], char text[MCP_TICKET_SIZE]);

/* Returns whether text is one that p was given; otherwise *ret_ticket is untouched. */
bool mcp_ticket_read(const char *text, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], struct mcp_ticket *ret_ticket);
