/*
 * A pane: a terminal in a holder, with its history and its screen. A session contains one, see
 * shell/session/session.h; code that only needs the terminal (typing, commands, waiting, viewing)
 * uses the pane and does not depend on the session.
 */
#pragma once

#include "ring/live/live.h"
#include "shell/pane/budget.h"
#include "shell/pane/journal.h"
#include "shell/pane/screening.h"
#include "shell/held/held.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counters of the input to all panes. */
struct pane_counters {
	uint64_t bytes_in, input_refused;
};

/* State of the shell; updated by the session, see session_move(). */
struct pane_life {
	bool runs;          /* it takes input and requests */
	bool exited;        /* it has exited, and all of its output has been processed */
	bool status_known;  /* exited: the holder has reported the status */
	int status;         /* exited, if known: of wait(2) */
	uint64_t exited_ms; /* exited: wall clock */
};

/* A terminal in a holder. */
struct pane {
	struct held held;
	struct pane_counters *counters; /* borrowed; of all panes */
	struct pane_life life;
	char *cwd, *shell;            /* that it was started with; owned */
	unsigned rows, cols;          /* now */
	uint64_t activity_ms;         /* wall clock at the last activity */
	uint64_t active_ms;           /* loop time of the same, or of the adoption */
	uint64_t output_ms, typed_ms; /* loop time of the last output and the last input; 0: none */
	enum screen_unicode unicode;  /* widths of characters, see struct screen_options */
	bool history_open;            /* history and live are valid */
	struct history history;
	struct live live;                 /* the screen */
	struct screening screening;       /* keeps live up to date */
	struct budget_share screen_share; /* of the memory for all screens */
	struct journal journal;
};

/* Loop time in ms. */
uint64_t pane_now(const struct pane *p);

/* The offset behind the newest byte of output; 0 while starting. */
uint64_t pane_head(const struct pane *p);

/* The columns of the terminal, or a default if they are not known. */
unsigned pane_cols(const struct pane *p);

/*
 * Whether a request to the holder will be answered: 0, -ERR_NOT_RUNNING unless the shell runs, -ERR_UNRESPONSIVE
 * when the holder is stopped and has not answered for LINK_UNRESPONSIVE_MS.
 */
int pane_check_responsive(const struct pane *p);

/* Write input to the terminal, counted and noted. Returns 0, or an error_of_holder() of link_write(). */
int pane_write(struct pane *p, const void *bytes, size_t length);

/* Set the colours in replies to programs. Nothing happens before the history is open. */
void pane_set_theme(struct pane *p, const struct theme *theme);

/* Set activity_ms and active_ms to now, also in the holder's control page, where it outlives the server. */
void pane_note_active(struct pane *p);

/* Record that input was typed, whether it is written now or queued. */
void pane_note_typed(struct pane *p);
