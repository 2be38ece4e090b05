/* Which sequences ask a terminal something, so that it would answer. Pure. */
#pragma once

#include "ring/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a CSI sequence makes some terminal answer. t: at its final byte; first: its first parameter, 0 without one. */
bool asks_csi(const struct tokenizer *t, uint32_t first);

/* Whether an OSC of this number can be a query. */
bool asks_osc(uint32_t number);

/* Whether an OSC of this number is always one. */
bool asks_osc_always(uint32_t number);

/* Whether an OSC of this number is a query depends on the name that its text begins with: asks_name(). */
#define ASKS_OSC_NAMED 1337u
#define ASKS_NAMES 7u /* a bit for each name that asks */

/*
 * Compare character c of the name, at index `at`, with the names that ask. *names: bits of those that it may still be.
 * Returns whether it is one of them.
 */
bool asks_name(uint8_t *names, unsigned at, uint8_t c);
