/* Styles in options, such as "fg=red,bold" (STYLES in tmux(1)). */
#pragma once

#include <stdbool.h>

/* Whether a text is a valid style. A text with formats is accepted, because it cannot be checked yet. */
bool style_is_valid(const char *text);
