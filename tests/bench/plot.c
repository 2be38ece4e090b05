#include "plot.h"

#include "process.h"

#include <math.h>

#define WIDTH 960
#define LABELS 320 /* left of the axis */
#define VALUES 60  /* right of the axis: for the number after the longest bar */
#define TOP 84
#define BAR 9
#define LINE (2 * BAR + 10) /* two bars and the gap */

/* The axis: powers of two. */
struct axis {
	double from, to; /* exponents */
};

static const struct {
	const char *name, *colour;
} bars[] = {[WAY_BARE] = {"bare terminal", "#1f5fa8"}, [WAY_RELAY] = {"relay", "#e08a1e"}};

static double cost(const struct figure *g, enum way base)
{
	double ratio = figure_ratio(g, base);
	return g->better == BETTER_MORE ? 1 / ratio : ratio;
}

static bool is_shown(const struct figure *g)
{
	return !isnan(cost(g, WAY_BARE)) || !isnan(cost(g, WAY_RELAY));
}

/* Find an axis that fits all bars and includes 1. */
static struct axis find_axis(const struct figures *f)
{
	struct axis a = {-1, 1};
	for (unsigned i = 0; i < f->count; i++)
		for (int w = WAY_BARE; w <= WAY_RELAY; w++) {
			double exponent = log2(cost(&f->all[i], (enum way)w));
			if (isnan(exponent))
				continue;
			a.from = fmin(a.from, floor(exponent));
			a.to = fmax(a.to, ceil(exponent));
		}
	return a;
}

static double place(const struct axis *a, double exponent)
{
	return LABELS + (exponent - a->from) / (a->to - a->from) * (WIDTH - LABELS - VALUES);
}

static void write_head(FILE *to, int height)
{
	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"16\" y=\"24\" font-size=\"16\" font-weight=\"bold\">What Ringside costs</text>\n"
		"<text x=\"16\" y=\"44\">as a multiple of the others' cost; shorter is better, left of 1 is "
		"faster than the other</text>\n",
		WIDTH, height, WIDTH, height);
	for (int w = WAY_BARE; w <= WAY_RELAY; w++) {
		int x = WIDTH - 230 + 130 * w;
		fprintf(to,
			"<rect x=\"%d\" y=\"15\" width=\"12\" height=\"%d\" fill=\"%s\"/>"
			"<text x=\"%d\" y=\"24\">%s</text>\n",
			x, BAR, bars[w].colour, x + 18, bars[w].name);
	}
}

static void write_axis(FILE *to, const struct axis *a, int bottom)
{
	for (double e = a->from; e <= a->to; e++) {
		double x = place(a, e);
		fprintf(to,
			"<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"%s\"/>"
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#666\">%g</text>\n",
			x, TOP - 8, x, bottom, e == 0 ? "#222" : "#ddd", x, TOP - 14, exp2(e));
	}
}

static void write_bar(FILE *to, const struct axis *a, double value, const char *colour, int y)
{
	double x = place(a, log2(value)), one = place(a, 0);
	if (isnan(value))
		return;
	/* The number is right of the bar, and right of 1 if the bar goes to the left. */
	fprintf(to,
		"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"
		"<text x=\"%.1f\" y=\"%d\" font-size=\"10\">%.*f</text>\n",
		fmin(x, one), y, fmax(fabs(x - one), 1), BAR, colour, fmax(x, one) + 4, y + BAR - 1,
		value < 9.995           ? 2
			: value < 99.95 ? 1
					: 0,
		value);
}

void plot_write(const struct figures *f, const char *path)
{
	struct axis a = find_axis(f);
	FILE *to = fopen(path, "w");
	int y = TOP, shown = 0;
	if (!to)
		die(path);
	for (unsigned i = 0; i < f->count; i++)
		shown += is_shown(&f->all[i]);
	write_head(to, TOP + shown * LINE + 16);
	write_axis(to, &a, TOP + shown * LINE);
	for (unsigned i = 0; i < f->count; i++) {
		const struct figure *g = &f->all[i];
		if (!is_shown(g))
			continue;
		fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LABELS - 12,
			y + BAR + 4, g->name);
		for (int w = WAY_BARE; w <= WAY_RELAY; w++)
			write_bar(to, &a, cost(g, (enum way)w), bars[w].colour, y + BAR * w);
		y += LINE;
	}
	fprintf(to, "</svg>\n");
	if (fclose(to) != 0)
		die(path);
}
