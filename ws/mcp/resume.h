/*
 * What a call goes on with when its client had to ask a person first: the command that it has begun, and the prompt that was
 * asked about. It is given to the client as a text, signed as the ids of sessions are (ws/mcp/ticket.h), so that no server has to
 * remember it; it opens nothing that the credentials of who was given it do not. Pure.
 */
#pragma once

#include "shell/session/session.h"
#include "ws/mcp/ticket.h"

#include <stdbool.h>
#include <stdint.h>

/* call:SESSION:EXEC, five numbers, and the signature */
#define MCP_RESUME_SIZE \
	(sizeof "call::." + 2 * NAME_ID_MAX + 5 * sizeof ":18446744073709551615" + MCP_TICKET_MAC)

struct mcp_resume {
	char session[NAME_ID_MAX + 1];
	char exec[NAME_ID_MAX + 1]; /* "": there is none */
	uint64_t epoch;             /* of the session */
	struct session_prompt prompt;
	uint64_t after; /* offset up to which the client knows what the terminal does */
	bool accepted;  /* the person opens the terminal; not in the text */
};

/* What p is given. key: of auth_derive(). */
void mcp_resume_sign(const struct mcp_resume *resume, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], char text[MCP_RESUME_SIZE]);

/* Returns whether text is one that p was given; otherwise *ret_resume is untouched. */
bool mcp_resume_read(const char *text, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], struct mcp_resume *ret_resume);
