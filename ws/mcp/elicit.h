/*
 * When a program asks for a password, the client is asked to have a person open the terminal
 * (elicitation by URL, if the client declares it). The person types the secret there; neither the
 * model nor the client sees it. Each prompt is asked for once, and the client is notified when it
 * is over.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define MCP_ELICITS_MAX 16u     /* of a client; then its oldest is dropped */
#define MCP_ELICITS_TOTAL 1024u /* of all clients; then the oldest is dropped */
#define MCP_ELICIT_ID_SIZE 33u
#define MCP_ELICIT_KEY "secret" /* name of the request in inputRequests */

struct mcp;
struct mcp_call;
struct mcp_elicit;
struct rpc_message;

/* Zeroed memory is empty. */
struct mcp_elicits {
	struct mcp_elicit *all; /* list, the oldest first */
	size_t count;
};

/*
 * If the terminal of a result awaits a password, ask the client, unless it was asked before.
 * terminal: gets "elicited" instead of "human_url" while the client has accepted, or was just
 * asked. "human_url" stays if the client cannot be asked, has not answered yet, or has declined.
 */
void mcp_elicit(struct mcp_call *c, json_t *terminal);

/*
 * For the revision without sessions, in which a result asks the client. Returns that result, a new
 * reference, with the state from which the next call continues. Returns NULL if there is nothing to
 * ask, it was asked before, or the call could not continue without repeating an action.
 */
json_t *mcp_elicit_required(struct mcp_call *c, const json_t *terminal);

/*
 * Whether the person has accepted the request MCP_ELICIT_KEY. responses: inputResponses of the next
 * call.
 */
bool mcp_elicit_accepted(const json_t *responses);

/* Handle a response from the client with this scope. */
void mcp_elicit_answered(struct mcp *m, const struct rpc_message *response, const char *scope);

/* Drop everything of a client after its session has ended. */
void mcp_elicit_forget(struct mcp *m, const char *scope);

/* Periodically: notify clients of prompts that are over. */
void mcp_elicit_tick(struct mcp *m);

/* Free everything. */
void mcp_elicit_close(struct mcp_elicits *all);
