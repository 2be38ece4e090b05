/*
 * The text of a typed command: what the terminal showed between the end of the prompt and Enter, after all editing.
 * Wrapped lines are joined; lines after a continuation prompt are lines. Pure.
 */
#pragma once

#include <stddef.h>

#define COMMAND_TEXT_SOURCE_MAX ((size_t)256 << 10) /* bytes of output that are searched */
#define COMMAND_TEXT_MAX ((size_t)16 << 10)         /* bytes of the text; the rest is cut */
#define COMMAND_TEXT_WORK ((size_t)1 << 20)         /* cells that may be touched */

/*
 * bytes: the output from the mark before the prompt to the start mark of the command. cols: of the terminal. Returns
 * UTF-8 without a trailing line break, owned by the caller; NULL if memory is short, there is no prompt, or drawing
 * takes more than COMMAND_TEXT_WORK.
 */
char *command_text(const char *nonce, const void *bytes, size_t length, unsigned cols);
