/* Terminals in sandboxes: each client of /v1/sandbox/ID/pty has one of its own, a session that ends with it. */
#pragma once

#include "ws/api/api.h"

/* What makes them; a: borrowed. */
struct terminal_maker bridge_terminals(struct api *a);
