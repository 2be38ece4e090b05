/* Memory of sessions. PSS in KiB, so that shared pages are counted once. */
#pragma once

#include "target.h"

#include <sys/types.h>

/* Sums over sessions. */
struct weights {
	double holders, bashes, ring, control;
	double tables; /* page tables of the holders, which are not in their PSS */
};

/* Let the server load what its first request needs, so that no session is charged for it. */
void weight_warm(const struct target *t);

double weight_server(const struct target *t);

/* shells: pids of the shells, whose parents are the holders. */
struct weights weight_sessions(const pid_t *shells, unsigned count);
