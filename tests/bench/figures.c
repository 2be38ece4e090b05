#include "figures.h"

#include "process.h"
#include "stats.h"

#include <errno.h>
#include <jansson.h>
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
	*new = (struct figure){.better = better};
	snprintf(new->row, sizeof new->row, "%s", row);
	snprintf(new->unit, sizeof new->unit, "%s", unit);
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

/* Of a copy, because sorting would mix up the rounds. */
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

/* Print three significant digits, or a dash. */
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
		"| %-44s | unit |     bare |    relay | ringside | x bare | x relay | s/GiB relay | s/GiB |  exact  |\n"
		"|:%.44s-|:-----|---------:|---------:|---------:|-------:|--------:|------------:|------:|:-------:|\n",
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
			fprintf(to, " %3u/%-3u |\n", g->exact, g->receivers);
		else
			fprintf(to, "         |\n");
	}
}

/* A number, or null for NAN. */
static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *series_json(const struct series *s)
{
	json_t *all = json_array();
	for (unsigned i = 0; i < s->count; i++)
		json_array_append_new(all, json_real(s->values[i]));
	return all;
}

static json_t *figure_json(const struct figure *f)
{
	json_t *all = json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:o, s:i, s:i}", "row", f->row,
		"name", f->name, "unit", f->unit, "moreIsBetter", f->better == BETTER_MORE, "worst",
		f->worst, "toBare", number(figure_ratio(f, WAY_BARE)), "toRelay",
		number(figure_ratio(f, WAY_RELAY)), "exact", (int)f->exact, "receivers",
		(int)f->receivers);
	for (int w = 0; w < WAYS; w++)
		json_object_set_new(all, way_names[w],
			json_pack("{s:o, s:o, s:o, s:o}", "value",
				number(figure_value(f, (enum way)w)), "cpu",
				number(figure_cpu(f, (enum way)w)), "values",
				series_json(&f->values[w]), "cpus", series_json(&f->cpu[w])));
	return all;
}

void figures_write_json(const struct figures *f, const char *path)
{
	json_t *all = json_array();
	for (unsigned i = 0; i < f->count; i++)
		json_array_append_new(all, figure_json(&f->all[i]));
	if (json_dump_file(all, path, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) < 0)
		die(path);
	json_decref(all);
}

static void read_series(struct series *s, const json_t *all)
{
	size_t i;
	const json_t *value;
	json_array_foreach (all, i, value)
		add(s, json_number_value(value));
}

static void read_figure(struct figures *f, json_t *all)
{
	const char *row, *name, *unit;
	int more, worst, exact, receivers;
	errno = 0;
	if (json_unpack(all, "{s:s, s:s, s:s, s:b, s:b, s:i, s:i}", "row", &row, "name", &name,
		    "unit", &unit, "moreIsBetter", &more, "worst", &worst, "exact", &exact,
		    "receivers", &receivers) < 0)
		die("not a JSON file of bench-table");
	struct figure *g = figures_at(f, row, name, unit, more ? BETTER_MORE : BETTER_LESS);
	g->worst = worst;
	figure_add_exact(g, (unsigned)exact, (unsigned)receivers);
	for (int w = 0; w < WAYS; w++) {
		const json_t *way = json_object_get(all, way_names[w]);
		read_series(&g->values[w], json_object_get(way, "values"));
		read_series(&g->cpu[w], json_object_get(way, "cpus"));
	}
}

void figures_read_json(struct figures *f, const char *path)
{
	size_t i;
	json_t *each, *all = json_load_file(path, 0, NULL);
	errno = 0;
	if (!json_is_array(all))
		die(path);
	json_array_foreach (all, i, each)
		read_figure(f, each);
	json_decref(all);
}
