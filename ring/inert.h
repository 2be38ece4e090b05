/*
 * Inert output: text, ordinary controls, and control sequences that only set colours, move the
 * cursor or erase. A terminal never answers it, so it needs no parser. Most output is inert. Pure.
 */
#pragma once

#include <stdint.h>

/*
 * Find the first byte in [p, end) that a parser in its ground state must handle: the start of a
 * string or of another sequence, a C1 control, ENQ, or an incomplete sequence or character. Returns
 * end if there is none. The bytes before it contain no query, and it lies between two sequences and
 * two characters.
 */
const uint8_t *inert_skip(const uint8_t *p, const uint8_t *end);
