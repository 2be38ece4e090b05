/* Channels of wait-for. A waiting process has a FIFO beside the state file; a byte in it wakes the process. */
#pragma once

#include "ws/client/tmux/tmux.h"

/* Wake all waiting processes because the tmux server exits: their commands fail. */
void wake_all(struct tmux *t);
