/*
 * The end of a held object: the marker "ending" is written, the holder is asked to kill all processes and exit, and
 * then the directory is removed. After a crash in between, the next server ends it again. If the holder does not do its
 * part in time, the server does it: see removal.h.
 */
#pragma once

#include "shell/held/held.h"

#include <stdbool.h>

/* The marker, in its directory. */
#define HELD_ENDING_FILE "ending"
/* The marker for the session's shell, which then does not restart itself. */
#define HELD_ENDING_SHELL_FILE "shell/ending"

/*
 * Begin the end: neither this server nor the next finds h by its id. ender (may be NULL) gets the result, waiters for
 * the start get -ECANCELED.
 */
void held_begin_end(struct held *h, struct held_waiter *ender);

/* Ask the holder to kill all processes, with this grace, and exit. Returns whether it could be asked. */
bool held_ask_to_end(struct held *h, unsigned grace_ms);

/*
 * Ensure the end within wait_ms, then call the kind's ended(); that also happens as soon as the holder reports that it
 * is done. If processes survive, the end_waiters get -EBUSY, h->survivors is set, and the removal is retried.
 */
void held_end(struct held *h, unsigned wait_ms);

/* Ensure that all its processes are killed within wait_ms, then call done with h and 0 or -EBUSY. */
void held_remove(struct held *h, unsigned wait_ms, void (*done)(void *held, int error));

/* Continue a removal of held_remove() as one of held_end(). */
void held_continue_as_end(struct held *h);

/* The holder has answered the request to end. */
void held_on_ended(struct held *h, int error);
