/* Waits for an event in a session. */
#pragma once

#include "ws/client/connect/cli.h"

#define WAIT_TIMEOUT_MS 30000u /* default */

/*
 * Wait until one of the conditions, as POST /wait has them, is true, and print what matched. from:
 * the offset from which on output counts; NULL: the current end. Both are borrowed. Returns the
 * exit status.
 */
int wait_until(struct cli *cli, const char *session, json_t *conditions, const json_t *from,
	uint64_t timeout_ms);
