/* Terminals that a separate process reads as fast as it can, while something else is measured. */
#pragma once

#include "path.h"

/*
 * Type a line into each, which starts its program, and start reading; the output is discarded. paths: count, open; only
 * this process reads them until noise_end().
 */
pid_t noise_start(const struct path *paths, unsigned count);

/* Wait so long, in milliseconds, before measuring beside it. */
#define NOISE_MS 100

/* Stop it and close the paths. */
void noise_end(pid_t pid, struct path *paths, unsigned count);
