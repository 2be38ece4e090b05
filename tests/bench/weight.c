#include "weight.h"

#include "process.h"

void weight_warm(const struct target *t)
{
	char answer[4096];
	target_http(t, "GET /api/session/list", NULL, answer, sizeof answer);
}

double weight_server(const struct target *t)
{
	return process_kib(t->pid, "smaps_rollup", "\nPss:");
}

struct weights weight_sessions(const pid_t *shells, unsigned count)
{
	struct weights w = {0};
	for (unsigned i = 0; i < count; i++) {
		pid_t holder = process_parent(shells[i]);
		w.holders += process_kib(holder, "smaps_rollup", "\nPss:");
		w.bashes += process_kib(shells[i], "smaps_rollup", "\nPss:");
		w.ring += process_memfd_kib(holder, "ringside-ring");
		w.control += process_memfd_kib(holder, "ringside-control");
		w.tables += process_kib(holder, "status", "\nVmPTE:");
	}
	return w;
}
