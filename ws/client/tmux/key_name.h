/* Names of keys, as send-keys takes them. Pure. */
#pragma once

#include "ws/client/tmux/arena.h"

/* C-x, ^x, M-Left, Enter: as the server names it; NULL: it is no key, but text. */
char *key_name_find(struct arena *a, const char *word);
