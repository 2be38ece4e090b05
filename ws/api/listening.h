/* The watch of listening ports: one scan serves all requests that ask for them. */
#pragma once

#include "ws/api/api.h"

/* Set a->listening. Returns 0 or a negative errno. */
int listening_open(struct api *a, uv_loop_t *loop);

/* Close a->listening, which has no followers any more. Its memory is freed by a later turn of the loop. */
void listening_close(struct api *a);
