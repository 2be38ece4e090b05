/* Channels of wait-for: who waits has a FIFO beside the state, and is woken by a byte in it. */
#pragma once

#include "ws/client/tmux/tmux.h"

/* Wake everybody: nothing that they wait for will come. */
void wake_all(struct tmux *t);
