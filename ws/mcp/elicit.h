/*
 * Where a password is awaited, the client is asked to have a person open the terminal (elicitation by URL, of clients that
 * declare it): the secret is typed there, and crosses neither model nor client. Once for each prompt; the client hears of its
 * end. At most MCP_ELICITS_MAX of a client, then the oldest is forgotten.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define MCP_ELICITS_MAX 16u     /* of a client */
#define MCP_ELICITS_TOTAL 1024u /* of all; the oldest goes */
#define MCP_ELICIT_ID_SIZE 33u

struct mcp;
struct mcp_call;
struct mcp_elicit;
struct rpc_message;

/* Zero is none. */
struct mcp_elicits {
	struct mcp_elicit *all; /* list, the oldest first */
	size_t count;
};

/*
 * The result of a call is about to say what its terminal does: if that is to await a password the client is asked, unless it was, and
 * the result says so ("elicited") in place of the way ("human_url"), which stays where the client cannot be asked, has not
 * answered or has declined.
 */
void mcp_elicit(struct mcp_call *c, json_t *terminal);

/*
 * The same of a client that is asked with the result itself (the revision without sessions): that result, a new reference, which
 * has in it what the call goes on with once the person has answered; or NULL: there is nothing to ask, or it was asked already, or
 * the call could not go on without doing something twice.
 */
json_t *mcp_elicit_required(struct mcp_call *c, const json_t *terminal);

/* Whether the person of whom MCP_ELICIT_KEY was asked has accepted that. responses: what came with the next call. */
#define MCP_ELICIT_KEY "secret"
bool mcp_elicit_accepted(const json_t *responses);

/* A response has come from the client of this scope. */
void mcp_elicit_answered(struct mcp *m, const struct rpc_message *response, const char *scope);

/* The client has ended. */
void mcp_elicit_forget(struct mcp *m, const char *scope);

/* From time to time: tell of those that are over. */
void mcp_elicit_tick(struct mcp *m);

void mcp_elicit_close(struct mcp_elicits *all);
