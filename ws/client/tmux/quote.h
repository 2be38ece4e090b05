/* Texts of tmux: as it prints them, and names as it keeps them. Pure. */
#pragma once

#include "ws/client/tmux/arena.h"

#include <stdbool.h>

/* Control characters as \n, \033 and so on, and backslashes doubled; with double quotes also those. */
char *quote_visible(struct arena *a, const char *text, bool double_quotes);
/* A value as a word of a command line of tmux. */
char *quote_word(struct arena *a, const char *text);
/* The name of a session: without what separates parts of a target. */
char *quote_session_name(struct arena *a, const char *name);
/* Without what is no UTF-8: each such byte as a question mark. */
char *quote_utf8(struct arena *a, const char *text);
/* How many columns it takes, and its beginning (or end, where from_end) of so many. */
size_t quote_width(const char *text);
char *quote_trim(struct arena *a, const char *text, size_t width, bool from_end);
