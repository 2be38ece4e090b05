/* Shared by the link*.c files. */
#pragma once

#include "pty/link.h"

/*
 * Send a request. While another process is attached, only WIRE_ATTACH is allowed.
 * Returns 0, -ENOTCONN, -EAGAIN when the holder's queue is full, or another negative errno.
 */
int link_request(struct link *l, struct wire_message m);

/* Write the queued input when the terminal accepts it. */
void link_resume_input(struct link *l);
