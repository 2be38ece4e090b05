/*
 * The text of a command that somebody has typed: what the terminal showed between the end of the prompt and the
 * Enter, with all editing done, so nothing has to be asked of the shell. Lines that were wrapped are one; lines
 * behind a continuation prompt are lines. Pure.
 */
#pragma once

#include <stddef.h>

#define COMMAND_TEXT_SOURCE_MAX ((size_t)256 << 10) /* bytes of output in which it is looked for */
#define COMMAND_TEXT_MAX ((size_t)16 << 10)         /* bytes of it; the rest is left out */
#define COMMAND_TEXT_WORK ((size_t)1 << 20)         /* cells that are touched for it */

/*
 * bytes: the output from the mark of the prompt's begin to that of the command's. cols: of the terminal. Returns
 * UTF-8 without the line break at its end, owned by the caller; NULL when there is no memory, no prompt in it, or more to
 * be drawn than COMMAND_TEXT_WORK.
 */
char *command_text(const char *nonce, const void *bytes, size_t length, unsigned cols);
