/* SIGINT, SIGTERM, SIGHUP and SIGQUIT while a command runs: they call back and do not kill us. */
#pragma once

#include "ws/client/connect/cli.h"

/* The caller sets interrupted and user before it opens it. */
struct interrupt {
	uv_signal_t signals[4]; /* INT, TERM, HUP, QUIT */
	unsigned count;         /* signals received */
	int signo;              /* the last one */
	void (*interrupted)(void *user, int signo);
	void *user;
};

/* Start to catch the signals. */
void interrupt_open(struct interrupt *i, struct cli *cli);

/* Stop. Runs the loop once. */
void interrupt_close(struct interrupt *i, struct cli *cli);
