/* Control sequences that libvterm does not survive, or of which it does not know where they end. */
#pragma once

#include "second.h"
#include "cutter.h"

#include "ring/screen/screen_internal.h"

/* Whether a sequence has more, or greater, parameters than it has room for, or sub-parameters, which it takes for parameters. */
bool survive_is_much(const struct screen *s, const struct piece *t);

/* Give it as many as it has room for. */
void survive_put_less(struct second *v, const struct screen *s, const struct piece *t);

/* REP, for which it may never come to an end. */
bool survive_is_repetition(const struct screen *s, const struct piece *t);

/* Give it the character that is repeated, as often. */
void survive_put_repeated(struct second *v, const struct screen *s, const struct piece *t);
