/* Which sequences ask a terminal something, so that it would answer. Pure. */
#pragma once

#include "ring/scan.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a CSI sequence makes some terminal answer: what s has of its header, and its final byte. */
bool asks_csi(const struct scan *s, uint8_t final);

/* Whether an OSC of this number can be a query at all. */
bool asks_osc(uint32_t number);
