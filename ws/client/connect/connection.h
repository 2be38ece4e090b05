/* Which server a command line is for, and the way to it. */
#pragma once

#include "ws/client/connect/line.h"

/* Find the server. Returns 0, or the status to end with; then standard error says why. */
int connection_open(struct line *l);
void connection_close(struct line *l);

/*
 * Whether somebody listens there now. Returns 0 or a negative errno; servers elsewhere are taken to.
 */
int connection_probe(const struct line *l);
