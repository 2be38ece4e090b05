/* The block in the path of a request. */
#pragma once

#include "shell/session/session.h"
#include "ws/request.h"

/* Find it. Borrowed; NULL after it has answered r. */
struct block *api_find_block(struct request *r, struct session *s);
