/* pipe-pane: a process of its own passes on what a pane prints to a command, and what that prints to the pane. */
#pragma once

#include "ws/client/tmux/tmux.h"

#define PIPE_WORD "pipe-feed" /* the command by which we call ourselves */

/* That process: SOCKET SESSION OFFSET FLAGS COMMAND. Returns its status. */
int pipe_feed(struct tmux *t, int argc, char **argv);
