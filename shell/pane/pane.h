/*
 * A pane: a terminal in a holder, with its history and its screen, as all those know it that work with the terminal of a
 * session: who types, who runs commands, who waits, who shows it. Sessions are made of it, see shell/session/session.h.
 */
#pragma once

#include "ring/live.h"
#include "shell/pane/journal.h"
#include "shell/held/held.h"

#include <stdbool.h>
#include <stdint.h>

struct pane {
	struct held held;
	char *cwd, *shell;            /* that it was started with; owned */
	unsigned rows, cols;          /* now */
	uint64_t activity_ms;         /* wall clock */
	uint64_t output_ms, typed_ms; /* loop time of the last output and the last input; 0: none */
	bool history_open;            /* and the screen */
	struct history history;
	struct live live;       /* its screen */
	struct journal journal; /* what has happened besides output */
};
