/* A list of sessions on the terminal, of which one is chosen. */
#pragma once

#include "ws/client/attach/attachment.h"
#include "ws/client/attach/roll.h"

/* Returns the id of the one that was chosen, of the roll, or NULL. The terminal is covered. */
const char *chooser_run(struct attachment *a, const struct roll *r);
