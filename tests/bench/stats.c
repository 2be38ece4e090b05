#include "stats.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint64_t stats_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double stats_us_since(uint64_t start_ns)
{
	return (double)(stats_now_ns() - start_ns) / 1e3;
}

double stats_cpu(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double stats_quantile(double *values, size_t count, double q)
{
	qsort(values, count, sizeof *values, compare);
	double place = q * (double)(count - 1);
	size_t i = (size_t)place;
	if (i + 1 >= count)
		return values[count - 1];
	return values[i] + (place - (double)i) * (values[i + 1] - values[i]);
}

double stats_median(double *values, size_t count)
{
	return stats_quantile(values, count, 0.5);
}

double stats_ratio(const double *a, const double *b, size_t count)
{
	double *ratios = calloc(count, sizeof *ratios), median = 0;
	if (!ratios)
		abort();
	for (size_t i = 0; i < count && !isnan(median); i++)
		median = ratios[i] = a[i] / b[i];
	if (!isnan(median))
		median = stats_median(ratios, count);
	free(ratios);
	return median;
}

double stats_noise(double *values, size_t count)
{
	double median = stats_median(values, count);
	if (median == 0)
		return 0;
	return (stats_quantile(values, count, 0.75) - stats_quantile(values, count, 0.25)) / 2 /
		median;
}

void stats_add(struct stats_line *l, double value, const char *format, ...)
{
	va_list args;
	size_t left = sizeof l->text - l->length;
	va_start(args, format);
	int n = vsnprintf(l->text + l->length, left, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= left)
		abort();
	l->length += (size_t)n;
	left -= (size_t)n;
	n = snprintf(l->text + l->length, left, "=%.6g ", value);
	if (n < 0 || (size_t)n >= left)
		abort();
	l->length += (size_t)n;
}

void stats_print(const struct stats_line *l, const char *name)
{
	printf("bench=%s %.*s\n", name, (int)(l->length ? l->length - 1 : 0), l->text);
	fflush(stdout);
}
