/* A session's history on the terminal, to scroll and to search in, while the session goes on. */
#pragma once

#include "ws/client/attach/attachment.h"

/* Until it is left. search: it begins with what to look for. The terminal is covered. */
void scroll_run(struct attachment *a, bool search);
