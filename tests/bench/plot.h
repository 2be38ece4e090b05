/* The table as a picture. */
#pragma once

#include "figures.h"

/*
 * Write an SVG: for each figure that has them, what it costs as a multiple of the bare terminal and of the relay, on a
 * logarithmic axis. Of speeds the inverse is taken, so that shorter is better throughout. A failure ends the benchmark.
 */
void plot_write(const struct figures *f, const char *path);
