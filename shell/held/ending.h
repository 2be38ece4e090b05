/*
 * The last part of a life: the marker "ending" is written, the holder is asked to end everybody and itself, and then the
 * directory is removed; a crash in between lets the next server end it again. What the holder does not do in time, or
 * cannot do any more, is done here: see removal.h.
 */
#pragma once

#include "shell/held/held.h"

#include <stdbool.h>

/* The marker, in a directory. */
#define HELD_ENDING_FILE "ending"
/* The same for the session's shell, which does not start itself again then. */
#define HELD_ENDING_SHELL_FILE "shell/ending"

/*
 * It is to be ended: from now on it is not found any more, here and by the next server. ender (may be NULL) hears how
 * that goes; who waits for its start is told -ECANCELED.
 */
void held_retire(struct held *h, struct held_waiter *ender);

/* Ask its holder to end everybody, with this grace, and itself. Returns whether it could be asked. */
bool held_ask_to_end(struct held *h, unsigned grace_ms);

/*
 * See that it is ended in wait_ms; then its kind hears, which also happens when the holder says that it has done so.
 * Until some that survive are gone it is tried again; those who wait are told -EBUSY, with h->survivors.
 */
void held_end(struct held *h, unsigned wait_ms);

/* See that everybody is ended who belongs to it, in wait_ms: done (error: 0 or -EBUSY) is called with h. */
void held_remove(struct held *h, unsigned wait_ms, void (*done)(void *held, int error));

/* What is under way is for its end, as by held_end(). */
void held_end_instead(struct held *h);

/* Its holder has answered to being asked. */
void held_on_ended(struct held *h, int error);
