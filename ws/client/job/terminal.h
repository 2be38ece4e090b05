/* `ringside run -it`: a command on its own that is talked to, in a terminal of its own that is thrown away with it. */
#pragma once

#include "ws/client/job/job.h"

/*
 * Run what the request of j asks for, connected, in a session of its own with our size, our keyboard and our terminal, and end
 * as it does. timeout_ms: 0 = none. Returns the status to end with.
 */
int terminal_run(struct job *j, uint64_t timeout_ms);

/* A signal has come: it ends with all that it has started. For struct job_callbacks; j is being run by terminal_run(). */
void terminal_interrupted(struct job *j);
