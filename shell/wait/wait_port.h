/* The port of a WAIT_PORT condition: probed until a program listens there. */
#pragma once

#include <stdbool.h>
#include <uv.h>

struct wait_port;

/*
 * Start probing. found() is called once, never from inside a function of this module. The caller
 * closes *ret_port. Returns 0 or -ENOMEM.
 */
int wait_port_open(uv_loop_t *loop, unsigned port, void (*found)(void *user), void *user,
	struct wait_port **ret_port);

/* Whether a program was found to listen. */
bool wait_port_is_found(const struct wait_port *p);

/* Stop; found() is not called any more. p may be NULL. */
void wait_port_close(struct wait_port *p);
