/* Whether text of the output is the terminal's echo of what was typed. */
#pragma once

#include "ring/stream.h"
#include "shell/input/typed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether all output up to `end`, since something was typed, is the kernel's echo of it. Does not
 * recognize input that `typed` has dropped, nor the echo of programs that edit lines themselves.
 */
bool echo_matches(const struct typed *typed, const struct stream *bytes, uint64_t end);

/* Whether a text is part of what was typed and echoed between two offsets of the output. */
bool echo_contains(
	const struct typed *typed, uint64_t begin, uint64_t end, const char *text, size_t length);
