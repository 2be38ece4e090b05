/* Shared by the files of the process routes. */
#pragma once

#include "ws/api/api.h"

/*
 * Find the process in the path and open its output, which the caller closes with process_close_output(). Returns NULL
 * if r has been answered.
 */
struct process *api_process_find_output(struct api *a, struct request *r);

/* The last bytes of a stream, at most 4 KiB, as text. sources: STREAMS_STDOUT and the like. */
json_t *api_process_tail_json(const struct process *p, unsigned sources);

/* Indices of the streams of a process. */
enum { API_STDOUT, API_STDERR, API_STREAMS };

/* The index of a source's stream. */
static inline int api_process_stream_of(enum event_source source)
{
	return source == EVENT_SOURCE_STDOUT ? API_STDOUT : API_STDERR;
}
