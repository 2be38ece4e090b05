/* Terminals that are read as fast as they can be, by one process of their own, while something else is measured. */
#pragma once

#include "path.h"

/*
 * Type a line into each, on which its program begins, and start reading; what comes is not looked at.
 * paths: count, open; nobody else may read them until noise_end().
 */
pid_t noise_start(const struct path *paths, unsigned count);

/* Let it have begun, so that what is measured is beside it; milliseconds. */
#define NOISE_MS 100

/* End it, and close the paths. */
void noise_end(pid_t pid, struct path *paths, unsigned count);
