/* `ringside run -it`: an interactive command in a session of its own. */
#pragma once

#include "ws/client/job/job.h"

/*
 * Run the command of j's request in a new session with our keyboard and size, and delete the
 * session afterwards. Call it after connection_open(). timeout_ms: 0: none. Returns the exit
 * status.
 */
int terminal_run(struct job *j, uint64_t timeout_ms);

/* Stop terminal_run() because of a signal; the session is deleted with all its processes. */
void terminal_interrupted(struct job *j);
