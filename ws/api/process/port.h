/* What the two ways of waiting for a port share: port.c and wait.c. */
#pragma once

#include "shell/wait/port_watch.h"
#include "ws/api/api.h"

#define API_PORT_WATCHES_MAX 256u /* at once */

/* What the body says: port, mode, path, statusMin, statusMax, interval. Returns false when r has been answered. */
bool api_port_options(struct request *r, const json_t *body, struct probe_options *ret_options,
	unsigned *ret_interval_ms);

/* Whether one more may be watched; otherwise r has been answered. To be given back by decrementing. */
bool api_port_take(struct api *a, struct request *r);
