/* How the API writes processes in JSON, with the names that the Sandbox container's protocol gives. */
#pragma once

#include "shell/process/process.h"

#include <jansson.h>

/* A process, as in lists. Returns a new reference, as all here. */
json_t *process_json(const struct process *p);

/* The same with what is told of one alone. */
json_t *process_details_json(const struct process *p);

/* The exit code; null when it is not known (yet). */
json_t *process_exit_json(const struct process *p);

/* Now, as ISO 8601. */
json_t *process_now_json(void);

/* "stdout" or "stderr". */
const char *process_stream_name(enum event_source source);
