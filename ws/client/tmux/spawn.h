/* What a new pane runs, as a command line says it. */
#pragma once

#include "ws/client/tmux/commands.h"

/*
 * Start what the arguments of a command ask for (-c, -e, a command) in a pane that has its cell. Returns 0 or 1; then the
 * pane is still there, without a terminal.
 */
int spawn_pane(struct call *c, struct pane *p, struct session *s);
/* What a window is called in which that runs. */
char *spawn_window_name(struct call *c, struct session *s);
/* The directory of -c, or ours. */
char *spawn_directory(struct call *c, const struct place *at);
/* -e NAME=VALUE, each, into an object. */
void spawn_variables(const struct call *c, json_t *into);
/* The next id of a pane; -1: there are too many, which has been complained of. */
int spawn_next_pane(struct call *c);
