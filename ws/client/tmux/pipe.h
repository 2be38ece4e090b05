/* pipe-pane: a background process copies the output of a pane to a command, and the command's to the pane. */
#pragma once

#include "ws/client/tmux/tmux.h"

#define PIPE_COMMAND "pipe-feed" /* internal command that runs pipe_feed() */

/* Run that process. Arguments: SOCKET SESSION OFFSET FLAGS COMMAND. Returns its exit status. */
int pipe_feed(struct tmux *t, int argc, char **argv);
