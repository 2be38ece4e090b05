/*
 * What has a holder: a directory of its own below the runtime directory, the link to the holder, and how both end.
 * Sessions and processes are both that, and something more.
 */
#pragma once

#include "pty/link.h"
#include "shell/held/removal.h"
#include "shell/name.h"

#include <stdbool.h>
#include <stdint.h>

struct held {
	char id[NAME_ID_MAX + 1];
	char *directory;   /* name below that of its table; owned */
	struct link link;  /* to its holder */
	bool adopted;      /* found when the server started */
	bool unresponsive; /* and its holder does not answer */
	uint64_t found_ms; /* loop time, if adopted */
	bool holder_lost;  /* nobody writes the ring any more */
	bool taken;        /* another server has the holder */
	bool stuck; /* being ended, and that some of it could not be ended in time has been said */
	struct removal removal; /* its end, or that of those whom its holder has left */
};
