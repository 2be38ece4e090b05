/* Control sequences that crash libvterm, or whose end it does not find. */
#pragma once

#include "second.h"
#include "cutter.h"

#include "ring/screen/screen_internal.h"

/* Whether a sequence has too many or too large parameters for libvterm, or sub-parameters, which it treats as parameters. */
bool survive_is_much(const struct screen *s, const struct piece *t);

/* Put the sequence with as many parameters as libvterm has. */
void survive_put_less(struct second *v, const struct screen *s, const struct piece *t);

/* Whether it is REP, which may never end in libvterm. */
bool survive_is_repetition(const struct screen *s, const struct piece *t);

/* Put the repeated character instead, as often. */
void survive_put_repeated(struct second *v, const struct screen *s, const struct piece *t);
