/* What the files of the process routes share: process*.c. */
#pragma once

#include "ws/api/api.h"

/* The process that the path names, or NULL: then r has been answered. */
struct process *api_process_find(struct api *a, struct request *r);

/* The same, and its output can be read: process_close_output() is the caller's. */
struct process *api_process_open(struct api *a, struct request *r);

/* Put the last bytes of a stream into JSON as text: up to max bytes before end. */
json_t *api_process_tail(const struct process *p, unsigned sources, size_t max);

/* The streams of a process, as indices. */
enum { API_STDOUT, API_STDERR, API_STREAMS };

static inline int api_process_stream_of(enum event_source source)
{
	return source == EVENT_SOURCE_STDOUT ? API_STDOUT : API_STDERR;
}
