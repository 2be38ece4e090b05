/*
 * Reads the kernel's table of listening sockets, and finds which sockets belong to descendants of
 * given processes (the holders of sessions). It opens many files of /proc: call it on a thread.
 */
#pragma once

#include "pty/proc/proc.h"
#include "shell/proc/attempt.h"
#include "shell/ports/listening.h"

#include <sys/types.h>

#define PORTS_SCAN_TABLE_MAX ((size_t)4 << 20) /* bytes of a table; listening sockets come first */
#define PORTS_SCAN_ROOTS_MAX 1024u
#define PORTS_SCAN_PROCESSES_MAX 65536u /* of the machine */
#define PORTS_SCAN_FILES_MAX 4096u      /* descriptors of one process */

/* The process that listens on a port. */
struct ports_scan_owner {
	pid_t pid;   /* 0: not found below any root */
	size_t root; /* index into roots; valid if pid is not 0 */
	char name[PROC_NAME];
};

/* Input and result of a look. */
struct ports_scan {
	struct attempts attempts; /* zeroed before the first look; free with attempts_finish() */
	/* Input. */
	pid_t roots[PORTS_SCAN_ROOTS_MAX];
	size_t roots_count;
	/* The last result, borrowed, or NULL. If found equals it, owners are not searched. */
	const struct listening *known;
	/* Result. */
	struct listening found;
	struct ports_scan_owner owners[LISTENING_MAX]; /* of found.ports; valid unless same */
	bool same;      /* found equals known, and owners is unchanged */
	bool truncated; /* a limit was reached, or part could not be read */
	bool hung;      /* some processes could not be examined now */
	int error;      /* 0, or a negative errno: the table cannot be read */
};

/* Read the table and find the owners. Any thread. */
void ports_scan(struct ports_scan *l);
