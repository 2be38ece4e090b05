/*
 * The figures of a table of measurements, each with a value for every round and way. Ratios are taken within a round,
 * so that noise affects both sides.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define FIGURES_MAX 64u
#define FIGURES_ROUNDS_MAX 25u

/* The ways to reach the same program. */
enum way { WAY_BARE, WAY_RELAY, WAY_RINGSIDE, WAYS };

enum better { BETTER_LESS, BETTER_MORE };

struct series {
	double values[FIGURES_ROUNDS_MAX];
	unsigned count;
};

struct figure {
	char row[16];  /* of the table */
	char name[64]; /* to display; without characters that XML escapes */
	char unit[8];  /* "us", "MB/s", … */
	enum better better;
	bool worst; /* report the worst of all rounds instead of the median */
	struct series values[WAYS];
	struct series cpu[WAYS];   /* CPU seconds per GiB */
	unsigned exact, receivers; /* clients that got each byte once, of those checked */
};

struct figures {
	struct figure all[FIGURES_MAX];
	unsigned count;
};

/* Find or create the figure of that name. */
struct figure *figures_at(
	struct figures *f, const char *row, const char *name, const char *unit, enum better better);

/* Add the value of a round. */
void figure_add(struct figure *f, enum way way, double value);
void figure_add_cpu(struct figure *f, enum way way, double seconds_per_gib);
void figure_add_exact(struct figure *f, unsigned exact, unsigned receivers);

/* The figure's value by a way, CPU seconds per GiB, and ratio to another way; NAN if there is none. */
double figure_value(const struct figure *f, enum way way);
double figure_cpu(const struct figure *f, enum way way);
double figure_ratio(const struct figure *f, enum way base);

/* Print the table as readable Markdown. */
void figures_print(const struct figures *f, FILE *to);

/* Write the values of all rounds to a file; read such a file and add its figures. Failures end the benchmark. */
void figures_write_json(const struct figures *f, const char *path);
void figures_read_json(struct figures *f, const char *path);
