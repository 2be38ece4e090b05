/* Adoption of what an earlier server has left. A directory of a table has a holder, had one, or will have one. */
#pragma once

#include "shell/held/table.h"

#include <stdbool.h>

/*
 * Reap the children that this process has now when they end: those of the server that it was before it executed this program.
 * Call it before any other child is started.
 */
void held_adopt_children(struct held_table *t);

/* Find the holders of an earlier server and attach to them. Returns how many were found, or a negative errno. */
int held_adopt(struct held_table *t);

/* Whether holders that were found have yet to answer, without unresponsive ones. */
bool held_is_adopting(const struct held_table *t);

/* Check again the holders that have not answered yet. Called periodically. */
void held_recheck(struct held_table *t);
