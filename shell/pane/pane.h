/*
 * A pane: a terminal in a holder, with its history and its screen, as all those know it that work with the terminal of a
 * session: who types, who runs commands, who waits, who shows it. Sessions are made of it, see shell/session/session.h;
 * what is above a pane knows it by this, and nothing of the session.
 */
#pragma once

#include "ring/live.h"
#include "shell/pane/budget.h"
#include "shell/pane/journal.h"
#include "shell/pane/screening.h"
#include "shell/held/held.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What has been written to all of them. */
struct pane_counters {
	uint64_t bytes_in, input_refused;
};

/* What has become of the shell. The session says so, as it finds out: see session_move(). */
struct pane_life {
	bool runs;          /* it takes input, and requests are heeded */
	bool exited;        /* it has ended, and all of its output has been followed */
	bool status_known;  /* exited: the holder has lived long enough to tell */
	int status;         /* exited, if known: of wait(2) */
	uint64_t exited_ms; /* exited: wall clock */
};

struct pane {
	struct held held;
	struct pane_counters *counters; /* borrowed; of all */
	struct pane_life life;
	char *cwd, *shell;            /* that it was started with; owned */
	unsigned rows, cols;          /* now */
	uint64_t activity_ms;         /* wall clock */
	uint64_t output_ms, typed_ms; /* loop time of the last output and the last input; 0: none */
	enum screen_unicode unicode;  /* what its characters take, see struct screen_options */
	bool history_open;            /* and the screen */
	struct history history;
	struct live live;                 /* its screen */
	struct screening screening;       /* and who makes that follow */
	struct budget_share screen_share; /* what it has of the memory for all screens */
	struct journal journal;           /* what has happened besides output */
};

/* Loop time in ms. */
uint64_t pane_now(const struct pane *p);

/* The offset behind the newest byte; 0 while starting. */
uint64_t pane_head(const struct pane *p);

/* The columns that its terminal has, or may be taken to have. */
unsigned pane_cols(const struct pane *p);

/*
 * Whether it can be asked for what its holder does at some time: 0, -ENOTCONN unless it runs, -EHOSTDOWN when the holder
 * has been stopped and has not answered for LINK_SILENT_MS.
 */
int pane_heeds(const struct pane *p);

/*
 * Write to its terminal what somebody types: counted, and noted for those who look at silence. Returns 0, or as
 * link_write().
 */
int pane_write(struct pane *p, const void *bytes, size_t length);

/* Something happens in it now: that outlives the server. */
void pane_note_active(struct pane *p);

/* Somebody has typed, whether that is written now or waits. */
void pane_note_typed(struct pane *p);
