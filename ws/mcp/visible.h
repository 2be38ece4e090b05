/*
 * Text for models, in which invisible characters and those that change the position of text are
 * escaped like \u{202E}: C1 controls, direction marks, tags (U+E0000), sequences of variation
 * selectors, and other format characters. Programs can print such escapes too; exact output is
 * available as base64. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Bytes that visible_text() may write for length bytes. */
#define VISIBLE_SIZE(length) (6 * (size_t)(length) + 1)

/*
 * Write text to dst, VISIBLE_SIZE(length) bytes, with a NUL. Invalid UTF-8 becomes U+FFFD; C0
 * controls other than line ends and tabs are escaped. line: escape line ends and tabs too, as for a
 * name within a line. Returns the length.
 */
size_t visible_text(const char *text, size_t length, bool line, char *dst);

/* Whether the text is ASCII, in which only controls are invisible. */
bool visible_is_ascii(const char *text, size_t length);
