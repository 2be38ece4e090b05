/* Requests to an attached holder. link.c receives the answers. */
#include "pty/link_internal.h"

int link_resize(struct link *l, unsigned rows, unsigned cols)
{
	int rc = link_request(l, (struct wire_message){.type = WIRE_RESIZE, .a = rows, .b = cols});
	if (rc == 0)
		l->resizing++;
	return rc;
}

int link_open_terminal(struct link *l)
{
	/* Close an open one first; -ENOENT is ignored. */
	int rc = link_request(l, (struct wire_message){.type = WIRE_STDERR_PTY, .a = 0});
	return rc < 0 ? rc : link_request(l, (struct wire_message){.type = WIRE_STDERR_PTY, .a = 1});
}

int link_signal(struct link *l, int signo, enum wire_target target)
{
	return link_request(
		l, (struct wire_message){.type = WIRE_SIGNAL, .a = (uint32_t)signo, .b = target});
}

int link_end(struct link *l, unsigned grace_ms)
{
	return link_request(l, (struct wire_message){.type = WIRE_END, .a = grace_ms});
}
