/* Drawing of a session on a wall. Pure. */
#pragma once

#include "ws/client/draw/canvas.h"
#include "ws/client/wall/crowd.h"
#include "ws/client/wall/tiling.h"

/* Draw a title line, and below it as much of the screen as fits. */
void tile_paint(struct canvas *p, const struct rect *place, const struct tile *t, bool chosen);
