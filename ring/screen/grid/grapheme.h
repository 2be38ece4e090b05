/*
 * Grapheme clusters: which characters share a cell, and how many columns that takes, as xterm.js' addon-unicode-graphemes
 * has it. That is the rules of UAX #29 by pairs: a picture joins any joiner, and there are no conjuncts of Indic scripts,
 * but by their signs. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How far a cluster goes; all zeros: nothing is before. */
struct grapheme {
	uint8_t kind;  /* what its last character does to the next */
	uint8_t width; /* columns of what there is of it: 1 or 2 */
	bool joins;    /* the last character has joined what was before it */
};

/* What there is once `code` has come. */
struct grapheme grapheme_behind(struct grapheme before, uint32_t code);
