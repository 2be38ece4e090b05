/* Waiting for something in a session. */
#pragma once

#include "ws/client/connect/cli.h"

#define WAIT_TIMEOUT_MS 30000u /* by default */

/*
 * Wait until the first of these conditions of the API comes true, and print what matched. from: an offset from which on output
 * counts; NULL = from now on. Both are borrowed. Returns the status to end with.
 */
int wait_until(struct cli *cli, const char *session, json_t *conditions, const json_t *from,
	uint64_t timeout_ms);
