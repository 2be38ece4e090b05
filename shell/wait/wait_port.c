/* See wait_port.h. Freed when its handles are closed, perhaps later than its wait. */
#include "shell/wait/wait_port.h"

#include "shell/wait/port_watch.h"

#include <errno.h>
#include <stdlib.h>

struct wait_port {
	struct port_watch watch;
	void (*found)(void *user);
	void *user;
};

static void on_ready(void *user, int status)
{
	struct wait_port *p = user;
	(void)status; /* of HTTP, which is not probed */
	p->found(p->user);
}

int wait_port_open(uv_loop_t *loop, unsigned port, void (*found)(void *user), void *user,
	struct wait_port **ret_port)
{
	struct wait_port *p = calloc(1, sizeof *p);
	struct probe_options options = {.port = port};
	if (!p)
		return -ENOMEM;
	p->found = found;
	p->user = user;
	port_watch_start(&p->watch, loop, &options, 0, on_ready, p);
	*ret_port = p;
	return 0;
}

bool wait_port_is_found(const struct wait_port *p)
{
	return p->watch.found;
}

static void on_closed(void *user)
{
	free(user);
}

void wait_port_close(struct wait_port *p)
{
	if (p)
		port_watch_close(&p->watch, on_closed);
}
