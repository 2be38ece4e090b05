/* The table as an SVG. */
#pragma once

#include "figures.h"

/*
 * Write an SVG: for each figure, its cost as a multiple of the bare terminal's and the relay's, on a logarithmic axis.
 * Speeds are inverted, so that shorter is always better. A failure ends the benchmark.
 */
void plot_write(const struct figures *f, const char *path);
