/* What the files of a link share. */
#pragma once

#include "pty/link.h"

#include <stdbool.h>

/* Send a request; while it is taken, none but ATTACH. Returns 0 or a negative errno. */
int link_ask(struct link *l, struct wire_message m);

/*
 * Its holder, or a program that controls it, has made a descriptor block that it shares with us. Its ring is damaged from
 * the next turn of the loop on, of which wake() is told, and nothing that it shares is used any more.
 */
void link_distrust(struct link *l);
