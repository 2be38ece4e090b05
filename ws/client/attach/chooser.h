/* A view that lists sessions, to choose one. */
#pragma once

#include "ws/client/attach/attachment.h"
#include "ws/client/attach/session_menu.h"

/*
 * Run between overlay_open() and overlay_close(). Returns the chosen id, which points into r, or NULL.
 */
const char *chooser_run(struct attachment *a, const struct session_menu *r);
