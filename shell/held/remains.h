/*
 * What is left of a holder that has died: its directory, and perhaps processes that must not stay when that is
 * removed, for nothing would lead to them any more. See shell/held/removal.h.
 */
#pragma once

#include "shell/held/removal.h"

#include <stdbool.h>

/* The processes of directory are gone, or (error -EBUSY) could not be ended: that is left to the next server. */
typedef void remains_cleared(void *user, const char *directory, int error);

/*
 * Begin to clear up; processes are known by the mark in the directory's name, unless something that lives has the same:
 * then it is a name that somebody has made up. Returns 0, and cleared is called later, or -ENOMEM.
 */
int remains_add(struct removals *t, const char *directory, remains_cleared *cleared, void *user);

/* Whether that goes on. */
bool remains_has(const struct removals *t, const char *directory);

/* Forget them all. */
void remains_close(struct removals *t);
