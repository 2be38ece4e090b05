/*
 * Grapheme clusters: which characters share a cell, and its width, as on the page
 * (web/src/term/unicode.ts). The rules are those of UAX #29, with few exceptions, which
 * tests/unicode/README.md lists. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* State of a cluster. All zeros: no cluster. */
struct grapheme {
	uint8_t kind;  /* Grapheme_Cluster_Break of its last character, and flags; see grapheme.c */
	uint8_t width; /* columns so far: 1 or 2 */
	bool joins;    /* the last character joined the cluster */
};

/* The state after `code`. */
struct grapheme grapheme_next(struct grapheme before, uint32_t code);
