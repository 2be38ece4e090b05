/* Starting panes from the arguments of a command. */
#pragma once

#include "ws/client/tmux/commands.h"

/*
 * Start the program of a command's arguments (-c, -e, shell command) in a pane that has a cell. Returns 0, or 1
 * with an error; the pane then remains, without a terminal.
 */
int spawn_pane(struct call *c, struct pane *p, struct session *s);
/* The name of a window that runs this program. */
char *spawn_window_name(struct call *c, struct session *s);
/* The directory of -c, or the current directory. */
char *spawn_directory(struct call *c, const struct place *at);
/* Add the variables of all -e NAME=VALUE to an object. */
void spawn_variables(const struct call *c, json_t *into);
/* Allocate a pane id. Returns -1 with an error if there are too many panes. */
int spawn_next_pane(struct call *c);
