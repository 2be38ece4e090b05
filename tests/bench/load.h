/* A program that floods its terminal with a stream when it is told to. */
#pragma once

#include "streams.h"
#include "target.h"

#include <stdint.h>

struct load {
	const char *name;
	enum stream_kind stream;
	unsigned times;    /* that it is written */
	const char *modes; /* of stty */
	char script[128];
	uint64_t bytes; /* that come out of the terminal */
};

/*
 * Write the script and its file into the target's directory. The program writes some megabytes that nobody measures and
 * READY, waits for a line, writes the stream and ends.
 */
void load_make(const struct target *t, struct load *l);
