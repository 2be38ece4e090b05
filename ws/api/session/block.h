/* The block that a request is about. */
#pragma once

#include "shell/session/session.h"
#include "ws/request.h"

/* The block of the path, borrowed; NULL: r has been answered. */
struct block *api_find_block(struct request *r, struct session *s);
