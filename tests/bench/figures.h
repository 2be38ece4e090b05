/*
 * What a table of measurements consists of: figures, each with a value for every round and every way, and what can be
 * said of them. Ratios are taken within a round, so that noise hits both sides alike.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define FIGURES_MAX 64u
#define FIGURES_ROUNDS_MAX 25u

/* How the same program is reached. */
enum way { WAY_BARE, WAY_RELAY, WAY_RINGSIDE, WAYS };

enum better { BETTER_LESS, BETTER_MORE };

struct series {
	double values[FIGURES_ROUNDS_MAX];
	unsigned count;
};

struct figure {
	char row[16];  /* that it belongs to */
	char name[64]; /* for people; nothing in it that XML would escape */
	char unit[8];  /* "us", "MB/s", … */
	enum better better;
	bool worst; /* the worst of all rounds is told, not their median */
	struct series values[WAYS];
	struct series cpu[WAYS];   /* CPU seconds for a GiB */
	unsigned exact, receivers; /* of so many that were checked, so many got each byte once */
};

struct figures {
	struct figure all[FIGURES_MAX];
	unsigned count;
};

/* The figure of that name; made when it is new. */
struct figure *figures_at(
	struct figures *f, const char *row, const char *name, const char *unit, enum better better);

/* The value of a round. */
void figure_add(struct figure *f, enum way way, double value);
void figure_add_cpu(struct figure *f, enum way way, double seconds_per_gib);
void figure_add_exact(struct figure *f, unsigned exact, unsigned receivers);

/* Its value by a way, CPU seconds for a GiB, and how many times that is of another way's; NAN where there is none. */
double figure_value(const struct figure *f, enum way way);
double figure_cpu(const struct figure *f, enum way way);
double figure_ratio(const struct figure *f, enum way base);

/* The table, in Markdown that is legible as it is. */
void figures_print(const struct figures *f, FILE *to);

/* All of it, with the values of each round; and add what such a file has. Failures end the benchmark. */
void figures_write_json(const struct figures *f, const char *path);
void figures_read_json(struct figures *f, const char *path);
