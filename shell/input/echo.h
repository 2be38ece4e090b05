/* Whether text of the output is what was typed, as the terminal shows it. */
#pragma once

#include "ring/stream.h"
#include "shell/input/typed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether the output up to `end` is the kernel's echo of what was typed, and nothing else has been printed since. typed knows
 * what was typed while the terminal showed it; what it has forgotten is not recognised, nor is what programs show that edit
 * lines themselves.
 */
bool echo_is(const struct typed *typed, const struct stream *bytes, uint64_t end);

/* Whether a text is a part of what was typed between two offsets of the output, and shown. */
bool echo_has(
	const struct typed *typed, uint64_t begin, uint64_t end, const char *text, size_t length);
