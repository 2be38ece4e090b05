/* What the files of a link share. */
#pragma once

#include "pty/link.h"

#include <stdbool.h>

/* Send a request; while it is taken, none but ATTACH. Returns 0 or a negative errno. */
int link_ask(struct link *l, struct wire_message m);
