/*
 * Text for models, without characters that are read but not seen, or seen where they do not stand: C1 controls, marks of
 * direction, tags (U+E0000), variation selectors in a row, and other format characters become \u{202E}. What is written so
 * cannot be told from who has printed it so: exact output is had as base64. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Bytes that visible_text() may write for length bytes. */
#define VISIBLE_SIZE(length) (6 * (size_t)(length) + 1)

/*
 * Write UTF-8 (what is none becomes U+FFFD) to dst, which has VISIBLE_SIZE(length) bytes, and a NUL behind it. line: it
 * is a name in a line, so line ends and tabs are written out as well. C0 controls other than those always are. Returns its
 * length.
 */
size_t visible_text(const char *text, size_t length, bool line, char *dst);

/* Whether it is ASCII: then there is nothing in it, but for controls, that is not seen. */
bool visible_is_ascii(const char *text, size_t length);
