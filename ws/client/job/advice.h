/* Hints on standard error for people who run `ringside exec`. */
#pragma once

#include "ws/client/connect/call.h"

/* Watches whether a command waits for input. */
struct advice {
	struct cli *cli;
	const char *session, *id; /* of the command */
	uv_timer_t timer;
	struct client_call *call; /* under way, or NULL */
	struct answer answer;
	bool open;
};

/*
 * Start to watch the command id. If it waits for input, print once how to answer it. All arguments
 * are borrowed until advice_close().
 */
void advice_open(struct advice *a, struct cli *cli, const char *session, const char *id);

/* Stop watching. Runs the loop once. */
void advice_close(struct advice *a);

/*
 * After RESOURCE_BUSY, print the command that runs there and how to wait for it. Not with --json.
 */
void advice_busy(const struct cli *cli, const struct answer *refusal);

/* Print how to wait for the end of a command that runs on. */
void advice_left(const char *session, const char *id);
