/*
 * Inert output: text, ordinary controls, and control sequences that only colour, move and erase: nothing that a
 * terminal would answer. It needs no parser, and most output is nothing else. Pure.
 */
#pragma once

#include <stdint.h>

/*
 * The first byte from p on, before end, that a parser in its ground state has to look at: what begins a
 * string or another sequence, a C1 control, ENQ, or something whose end is not there yet; end if there is
 * none. Nothing between is a query, and the place is between two sequences and two characters.
 */
const uint8_t *inert_skip(const uint8_t *p, const uint8_t *end);
