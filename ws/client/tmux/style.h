/* Styles of tmux, as options have them: "fg=red,bold" (STYLES in its man page). */
#pragma once

#include <stdbool.h>

/* Whether a text is one. What has formats in it cannot be told before they are expanded, and is taken for one. */
bool style_is(const char *text);
