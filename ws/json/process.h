/* Processes as JSON, with the names of the Sandbox container's protocol. */
#pragma once

#include "shell/process/process.h"

#include <jansson.h>

/* A process, as in lists. Returns a new reference, as all here. */
json_t *process_json(const struct process *p);

/* process_json() with the fields that lists leave out. */
json_t *process_details_json(const struct process *p);

/* The exit code; null if it is unknown or the process is running. */
json_t *process_exit_json(const struct process *p);

/* "stdout" or "stderr". */
const char *process_stream_name(enum event_source source);
