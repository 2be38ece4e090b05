/* A program that floods its terminal with a stream on demand. */
#pragma once

#include "streams.h"
#include "target.h"

#include <stdint.h>

struct load {
	const char *name;
	enum stream_kind stream;
	unsigned times;    /* repetitions of the stream */
	const char *modes; /* arguments of stty */
	char script[128];
	uint64_t bytes; /* output of the terminal */
};

/*
 * Write the script and its file into the target's directory. The program writes some megabytes and READY, waits for a
 * line, writes the stream and exits.
 */
void load_make(const struct target *t, struct load *l);
