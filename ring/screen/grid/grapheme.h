/*
 * Grapheme clusters: which characters share a cell, and its width, as in xterm.js's
 * addon-unicode-graphemes: the rules of UAX #29 on pairs of characters. So a picture joins any ZWJ,
 * and conjuncts of Indic scripts are not supported. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* State of a cluster. All zeros: no cluster. */
struct grapheme {
	uint8_t kind;  /* Grapheme_Cluster_Break of its last character */
	uint8_t width; /* columns so far: 1 or 2 */
	bool joins;    /* the last character joined the cluster */
};

/* The state after `code`. */
struct grapheme grapheme_next(struct grapheme before, uint32_t code);
