/* A view that scrolls and searches in a session's history. */
#pragma once

#include "ws/client/attach/attachment.h"

/* Run it between overlay_open() and overlay_close(). search: begin with a search. */
void scroll_run(struct attachment *a, bool search);
