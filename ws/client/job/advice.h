/* What somebody at a terminal can do about a command of a session: it waits for input, or another one is in its way. */
#pragma once

#include "ws/client/connect/call.h"

/* Someone who looks whether a command waits for input, for as long as it is followed. */
struct advice {
	struct cli *cli;
	const char *session, *id; /* of the command */
	uv_timer_t timer;
	struct client_call *call; /* under way, or NULL */
	struct answer answer;
	bool open;
};

/* Say once on standard error how to answer, should the command wait for input; all is borrowed until it is closed. */
void advice_open(struct advice *a, struct cli *cli, const char *session, const char *id);
/* Look no more. Turns the loop. */
void advice_close(struct advice *a);

/* Behind a refusal: what runs in the session, and what one can do about that. Says nothing with --json, or of others. */
void advice_busy(const struct cli *cli, const struct answer *refusal);

/* It is left alone: how to come back to it. */
void advice_left(const char *session, const char *id);
