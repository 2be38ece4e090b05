/* Terminals in sandboxes: each client of /v1/sandbox/ID/pty gets a session that ends with it. */
#pragma once

#include "ws/api/api.h"

/* The callbacks that create such sessions. a: borrowed. */
struct terminal_factory bridge_terminals(struct api *a);
