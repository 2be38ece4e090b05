/*
 * Who belongs to a session or process whose holder is gone, so that no tree leads to them: those that carry its
 * mark (see pty/wire.h), those of its shell's kernel session, and all below them. See shell/held/removal.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct orphans {
	uint64_t mark; /* 0: none */
	pid_t session; /* kernel session, 0: not known */
	uint64_t lost_ticks; /* who is younger does not belong to that: the number may have changed hands */
	unsigned count; /* found by the last look */
};

/*
 * Stop all of them, then kill them; in one walk through /proc each for all sets. Their counts say how many were found
 * alive in the second. Returns 0 or a negative errno.
 */
int orphans_end(struct orphans *sets, size_t count);
