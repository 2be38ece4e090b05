/* Who looks at which ports are listened at, for all who ask. */
#pragma once

#include "ws/api/api.h"

/* Sets a->listening. Returns 0 or a negative errno. */
int listening_open(struct api *a, uv_loop_t *loop);
/* Nobody asks any more. Its memory goes when the loop has turned. */
void listening_close(struct api *a);
