/*
 * A look at who listens: the kernel's table, and below which of some processes (the holders of sessions) the sockets are.
 * It opens many files of /proc and belongs on a thread of its own.
 */
#pragma once

#include "pty/proc/proc.h"
#include "shell/proc/attempt.h"
#include "shell/ports/listening.h"

#include <sys/types.h>

#define LOOK_TABLE_MAX ((size_t)4 << 20) /* bytes of a table: what listens stands in front */
#define LOOK_ROOTS_MAX 1024u
#define LOOK_PROCESSES_MAX 65536u /* of the machine */
#define LOOK_FILES_MAX 4096u      /* descriptors of one process */

struct look_owner {
	pid_t pid;   /* 0: it is below none of the roots, or cannot be found */
	size_t root; /* of roots; valid when pid is not 0 */
	char name[PROC_NAME];
};

struct ports_look {
	struct attempts attempts; /* zeroed before the first look, to be given to attempts_finish() */
	/* What is asked. */
	pid_t roots[LOOK_ROOTS_MAX];
	size_t roots_count;
	/* What is known from the last look: where it has not changed, nobody is looked for. */
	const struct listening *known; /* borrowed; NULL: nothing is */
	/* What is found. */
	struct listening found;
	struct look_owner owners[LISTENING_MAX]; /* of found.ports; valid unless same */
	bool same;                               /* as known, and owners is as it was */
	bool truncated; /* there is more than may be looked at, or than could be */
	bool hung;      /* some could not be looked at now */
	int error;      /* 0, or a negative errno: the table cannot be read */
};

/* Look. On any thread. */
void ports_look(struct ports_look *l);
