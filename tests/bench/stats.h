/* Time, order statistics, and the line of figures that a benchmark ends with. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t stats_now_ns(void);
double stats_us_since(uint64_t start_ns);

/* CPU time of this process, in seconds. */
double stats_cpu(void);

/* The q-quantile (0 to 1) of count > 0 values; sorts them. */
double stats_quantile(double *values, size_t count, double q);

double stats_median(double *values, size_t count);

/* The median of the ratios a[i] / b[i]. NAN if one is. */
double stats_ratio(const double *a, const double *b, size_t count);

/* How noisy count > 0 values are: half the distance of the quartiles, relative to the median. Sorts them. */
double stats_noise(double *values, size_t count);

/* A line of key=value pairs, collected while the table is printed. */
struct stats_line {
	char text[8192];
	size_t length;
};

void stats_add(struct stats_line *l, double value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Print "bench=NAME key=value ...". */
void stats_print(const struct stats_line *l, const char *name);
