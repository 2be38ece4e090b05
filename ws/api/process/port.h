/* Shared by the two ways of waiting for a port: port.c and wait.c. */
#pragma once

#include "shell/wait/port_watch.h"
#include "ws/api/api.h"

#define API_PORT_WATCHES_MAX 256u /* at once */

/* Parse the fields port, mode, path, statusMin, statusMax and interval. Returns false if r has been answered. */
bool api_port_options(struct request *r, const json_t *body, struct probe_options *ret_options,
	unsigned *ret_interval_ms);
