/* What sessions weigh. PSS, in KiB, so that what is shared is counted once. */
#pragma once

#include "target.h"

#include <sys/types.h>

/* Sums over sessions. */
struct weights {
	double holders, bashes, ring, control;
	double tables; /* page tables of the holders, which are not in their PSS */
};

/* Make the server load what its first request of all makes it load: that is no session's. */
void weight_warm(const struct target *t);

double weight_server(const struct target *t);

/* shells: pids of their shells, whose parents are the holders. */
struct weights weight_sessions(const pid_t *shells, unsigned count);
