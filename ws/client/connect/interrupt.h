/* Ctrl-C and its like while a command is under way. */
#pragma once

#include "ws/client/connect/cli.h"

struct interrupt {
	uv_signal_t signals[4]; /* INT, TERM, HUP, QUIT */
	unsigned count;         /* how often */
	int signo;              /* the last */
	void (*interrupted)(void *user, int signo);
	void *user;
};

void interrupt_open(struct interrupt *i, struct cli *cli);
/* Turns the loop. */
void interrupt_close(struct interrupt *i, struct cli *cli);
