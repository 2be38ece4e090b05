/*
 * What has a holder: a directory of its own below the runtime directory, the link to the holder, and how both end.
 * Sessions and processes are both that, and something more.
 */
#pragma once

#include "pty/link.h"
#include "shell/held/removal.h"
#include "shell/held/turns.h"
#include "shell/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of one kind. */
struct held_table {
	uv_loop_t *loop;    /* not owned */
	struct turns turns; /* of those with more to consume */
};

struct held {
	struct held_table *table;
	char id[NAME_ID_MAX + 1];
	char *directory;   /* name below that of its table; owned */
	struct link link;  /* to its holder */
	struct turn turn;  /* to consume what that has written */
	bool adopted;      /* found when the server started */
	bool unresponsive; /* and its holder does not answer */
	uint64_t found_ms; /* loop time, if adopted */
	bool holder_lost;  /* nobody writes the ring any more */
	bool taken;        /* another server has the holder */
	bool stuck; /* being ended, and that some of it could not be ended in time has been said */
	struct removal removal; /* its end, or that of those whom its holder has left */
};

/* The loop that it lives in. */
static inline uv_loop_t *held_loop(const struct held *h)
{
	return h->table->loop;
}

/* Have it looked at in the next turn of the loop, whether its holder has written anything or not. */
static inline void held_make_busy(struct held *h)
{
	turn_make_busy(&h->table->turns, &h->turn);
}

static inline struct held *held_of_turn(struct turn *turn)
{
	return (struct held *)(void *)((char *)turn - offsetof(struct held, turn));
}
