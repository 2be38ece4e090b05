/* Names of keys, as the arguments of send-keys. Pure. */
#pragma once

#include "ws/client/tmux/arena.h"

/* Translate a key name such as C-x, ^x, M-Left or Enter to the server's. Returns NULL if it is text. */
char *key_name_find(struct arena *a, const char *word);
