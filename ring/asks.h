/* Which sequences ask a terminal something, so that it would answer. Pure. */
#pragma once

#include "ring/scan.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a CSI sequence makes some terminal answer: what s has of its header, and its final byte. */
bool asks_csi(const struct scan *s, uint8_t final);

/* Whether an OSC of this number can be a query at all, and whether it is one whatever it has. */
bool asks_osc(uint32_t number);
bool asks_osc_always(uint32_t number);

#define ASKS_OSC_NAMED \
	1337u         /* what an OSC of this number asks is said by the name that it begins with */
#define ASKS_NAMES 7u /* a bit for each name that asks */

/* Take character c of the name, the at-th; *names: those that it may still be. Returns whether it asks. */
bool asks_name(uint8_t *names, unsigned at, uint8_t c);
