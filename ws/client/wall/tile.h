/* A session on a wall, as the bytes that draw it. Pure. */
#pragma once

#include "ws/client/draw/canvas.h"
#include "ws/client/wall/crowd.h"
#include "ws/client/wall/tiling.h"

/* A session in its place: a line that names it, and as much of its screen as there is room for. */
void tile_paint(struct canvas *p, const struct rect *place, const struct tile *t, bool chosen);
