/* A port that a wait waits for: probed until somebody listens there. */
#pragma once

#include <stdbool.h>
#include <uv.h>

struct wait_port;

/*
 * Begin. found: once, never from inside a function of this module. *ret_port is to be closed. Returns 0 or -ENOMEM.
 */
int wait_port_open(uv_loop_t *loop, unsigned port, void (*found)(void *user), void *user,
	struct wait_port **ret_port);

/* Whether somebody was found to listen there. */
bool wait_port_is_found(const struct wait_port *p);

/* found() does not come any more. NULL is allowed. */
void wait_port_close(struct wait_port *p);
