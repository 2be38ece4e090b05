/*
 * Adopting what an earlier server has left: every directory of a table has a holder, or had one, or is about to have
 * one.
 */
#pragma once

#include "shell/held/table.h"

#include <stdbool.h>

/* Find the holders of an earlier server and attach to them. Returns how many were found, or a negative errno. */
int held_adopt(struct held_table *t);

/* Whether some that were found are yet to answer, without those that cannot. */
bool held_is_adopting(const struct held_table *t);

/* Look again at those that were found and have not answered yet. */
void held_look_again(struct held_table *t);
