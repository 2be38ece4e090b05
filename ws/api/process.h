/* What the files of the process routes share: process.c, process_output.c, process_wait.c. */
#pragma once

#include "ws/api/api.h"

/* The process that the path names, or NULL: then r has been answered. */
struct process *api_process_find(struct api *a, struct request *r);

/* The same, and its output can be read: process_close_output() is the caller's. */
struct process *api_process_open(struct api *a, struct request *r);

/* Put the last bytes of a stream into JSON as text: up to max bytes before end. */
json_t *api_process_tail(const struct process *p, unsigned sources, size_t max);
