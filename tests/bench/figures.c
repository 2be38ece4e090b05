#include "figures.h"

#include "process.h"
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *const way_names[WAYS] = {"bare", "relay", "ringside"};

struct figure *figures_at(
	struct figures *f, const char *row, const char *name, const char *unit, enum better better)
{
	for (unsigned i = 0; i < f->count; i++)
		if (strcmp(f->all[i].name, name) == 0)
			return &f->all[i];
	errno = 0;
	if (f->count == FIGURES_MAX)
		die("too many figures");
	struct figure *new = &f->all[f->count++];
	*new = (struct figure){.row = row, .unit = unit, .better = better};
	snprintf(new->name, sizeof new->name, "%s", name);
	return new;
}

static void add(struct series *s, double value)
{
	errno = 0;
	if (s->count == FIGURES_ROUNDS_MAX)
		die("too many rounds");
	s->values[s->count++] = value;
}

void figure_add(struct figure *f, enum way way, double value)
{
	add(&f->values[way], value);
}

void figure_add_cpu(struct figure *f, enum way way, double seconds_per_gib)
{
	add(&f->cpu[way], seconds_per_gib);
}

void figure_add_exact(struct figure *f, unsigned exact, unsigned receivers)
{
	f->exact += exact;
	f->receivers += receivers;
}

/* Of a copy: sorting would tear the rounds apart. */
static double middle(const struct series *s, double q)
{
	struct series copy = *s;
	return copy.count > 0 ? stats_quantile(copy.values, copy.count, q) : (double)NAN;
}

double figure_value(const struct figure *f, enum way way)
{
	return middle(&f->values[way], f->worst ? 1 : 0.5);
}

double figure_cpu(const struct figure *f, enum way way)
{
	return middle(&f->cpu[way], 0.5);
}

double figure_ratio(const struct figure *f, enum way base)
{
	const struct series *of = &f->values[WAY_RINGSIDE], *to = &f->values[base];
	struct series ratios = {0};
	if (base == WAY_RINGSIDE)
		return (double)NAN;
	if (f->worst)
		return figure_value(f, WAY_RINGSIDE) / figure_value(f, base);
	for (unsigned i = 0; i < of->count && i < to->count; i++)
		add(&ratios, of->values[i] / to->values[i]);
	return middle(&ratios, 0.5);
}

/* Three digits that count, or a dash. */
static void print_cell(FILE *to, double value, int width)
{
	if (isnan(value))
		fprintf(to, " %*s |", width, "");
	else
		fprintf(to, " %*.*f |", width,
			fabs(value) >= 99.95           ? 0
				: fabs(value) >= 9.995 ? 1
						       : 2,
			value);
}

void figures_print(const struct figures *f, FILE *to)
{
	fprintf(to,
		"| %-44s | unit |     bare |    relay | ringside | x bare | x relay | s/GiB relay | s/GiB | exact |\n"
		"|:%.44s-|:-----|---------:|---------:|---------:|-------:|--------:|------------:|------:|------:|\n",
		"", "------------------------------------------------");
	for (unsigned i = 0; i < f->count; i++) {
		const struct figure *g = &f->all[i];
		fprintf(to, "| %-44s | %-4s |", g->name, g->unit);
		for (int w = 0; w < WAYS; w++)
			print_cell(to, figure_value(g, (enum way)w), 8);
		print_cell(to, figure_ratio(g, WAY_BARE), 6);
		print_cell(to, figure_ratio(g, WAY_RELAY), 7);
		print_cell(to, figure_cpu(g, WAY_RELAY), 11);
		print_cell(to, figure_cpu(g, WAY_RINGSIDE), 5);
		if (g->receivers > 0)
			fprintf(to, " %2u/%-2u |\n", g->exact, g->receivers);
		else
			fprintf(to, "       |\n");
	}
}

static void write_number(FILE *to, const char *name, double value)
{
	if (isnan(value))
		fprintf(to, ",\"%s\":null", name);
	else
		fprintf(to, ",\"%s\":%.6g", name, value);
}

static void write_series(FILE *to, const char *name, const struct series *s)
{
	fprintf(to, ",\"%s\":[", name);
	for (unsigned i = 0; i < s->count; i++)
		fprintf(to, "%s%.6g", i ? "," : "", s->values[i]);
	fprintf(to, "]");
}

void figures_write_json(const struct figures *f, const char *path)
{
	FILE *to = fopen(path, "w");
	if (!to)
		die(path);
	fprintf(to, "[");
	for (unsigned i = 0; i < f->count; i++) {
		const struct figure *g = &f->all[i];
		fprintf(to, "%s{\"row\":\"%s\",\"name\":\"%s\",\"unit\":\"%s\",\"better\":\"%s\"",
			i ? ",\n" : "", g->row, g->name, g->unit,
			g->better == BETTER_MORE ? "more" : "less");
		for (int w = 0; w < WAYS; w++) {
			char name[32];
			write_number(to, way_names[w], figure_value(g, (enum way)w));
			snprintf(name, sizeof name, "%s_cpu", way_names[w]);
			write_number(to, name, figure_cpu(g, (enum way)w));
			snprintf(name, sizeof name, "%s_rounds", way_names[w]);
			write_series(to, name, &g->values[w]);
		}
		write_number(to, "to_bare", figure_ratio(g, WAY_BARE));
		write_number(to, "to_relay", figure_ratio(g, WAY_RELAY));
		fprintf(to, ",\"exact\":%u,\"receivers\":%u}", g->exact, g->receivers);
	}
	fprintf(to, "]\n");
	if (fclose(to) != 0)
		die(path);
}
