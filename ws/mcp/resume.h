/*
 * The state from which a call continues after its client asked a person: the command and the
 * prompt. The client holds it as a text, signed like session ids (ws/mcp/ticket.h), so the server
 * keeps nothing. It grants no rights beyond the client's credentials. Pure.
 */
#pragma once

#include "shell/prompt.h"
#include "ws/mcp/ticket.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes of call:SESSION/EXEC, five numbers, the signature, and the NUL. */
#define MCP_RESUME_SIZE \
	(sizeof "call::." + 2 * NAME_ID_MAX + 5 * sizeof ":18446744073709551615" + MCP_TICKET_MAC)

/* The state. */
struct mcp_resume {
	char session[NAME_ID_MAX + 1];
	char exec[NAME_ID_MAX + 1]; /* "": there is none */
	uint64_t epoch;             /* of the session */
	struct prompt_id prompt;
	uint64_t after; /* offset of the terminal state that the client has received */
	bool accepted;  /* the person opens the terminal; not in the text */
};

/* Write and sign the state for p. key: of auth_derive(). */
void mcp_resume_sign(const struct mcp_resume *resume, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], char text[MCP_RESUME_SIZE]);

/* Parse a text. Returns false, with *ret_resume untouched, unless it was signed for p. */
bool mcp_resume_read(const char *text, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], struct mcp_resume *ret_resume);
