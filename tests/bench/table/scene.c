#include "table/scene.h"

#include "process.h"
#include "stats.h"

#include <stdio.h>
#include <unistd.h>

void scene_open(struct scene *s, const char *program)
{
	target_open(&s->target, program, 0);
	relay_open(&s->relay, s->target.dir);
}

void scene_close(struct scene *s)
{
	relay_close(&s->relay);
	target_close(&s->target);
}

struct path scene_path(const struct scene *s, enum way way, const char *id, const char *script)
{
	switch (way) {
	case WAY_BARE:
		return path_bare(script);
	case WAY_RELAY:
		return path_relay(&s->relay, script);
	default:
		return path_session(&s->target, id, script);
	}
}

double scene_cpu(const struct scene *s, enum way way, const struct path *paths, unsigned count)
{
	if (way == WAY_BARE)
		return process_cpu(getpid());
	if (way == WAY_RELAY)
		return process_cpu(s->relay.pid);
	double sum = process_cpu(s->target.pid);
	for (unsigned i = 0; i < count; i++)
		if (paths[i].target)
			sum += process_cpu(paths[i].pid);
	return sum;
}

void scene_add_times(struct scene *s, const char *row, const char *name, enum way way, double *us,
	unsigned count)
{
	char text[64];
	snprintf(text, sizeof text, "%s, p50", name);
	figure_add(figures_at(&s->figures, row, text, "us", BETTER_LESS), way,
		stats_quantile(us, count, 0.5));
	snprintf(text, sizeof text, "%s, p99", name);
	figure_add(figures_at(&s->figures, row, text, "us", BETTER_LESS), way,
		stats_quantile(us, count, 0.99));
}
