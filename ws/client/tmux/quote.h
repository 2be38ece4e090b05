/* Escaping, UTF-8 and widths of texts, as in tmux. Pure. */
#pragma once

#include "ws/client/tmux/arena.h"

#include <stdbool.h>

/* Escape control characters (\n, \033), backslashes, "$" before a name, and on request double quotes. */
char *quote_visible(struct arena *a, const char *text, bool double_quotes);
/* Quote a value as one word of a tmux command line. */
char *quote_word(struct arena *a, const char *text);
/* A valid session name: ":" and ".", which separate the parts of a target, become "_". */
char *quote_session_name(struct arena *a, const char *name);
/* Replace each byte that is not UTF-8 by "?". */
char *quote_utf8(struct arena *a, const char *text);
/* The width in columns. */
size_t quote_width(const char *text);
/* The first, or with from_end the last, width columns. */
char *quote_trim(struct arena *a, const char *text, size_t width, bool from_end);
