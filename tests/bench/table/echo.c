/* Rows: how long the echo of a key takes, alone and beside other load. */
#include "noise.h"
#include "pattern.h"
#include "process.h"
#include "stats.h"
#include "table/rows.h"
#include "table/scene.h"

#include <stdio.h>
#include <stdlib.h>

#define KEYS 300
#define FLOODS 10
/* Between keys: like a fast typist, and beside hostile output to cover all of it. */
#define PACE_US 2000
#define PROMPT_MS 300 /* of silence after the prompt */
#define PATTERN_BYTES ((size_t)4 << 20)
#define STYLES_BYTES ((size_t)48 << 20) /* two million styles */

static void make_cat(const struct scene *s, char *ret_path)
{
	target_script(&s->target, "cat", "#!/bin/sh\necho READY\nexec cat\n", ret_path);
}

/* Measure the echo beside count terminals that run a script. Returns KEYS times. */
static double *echo_beside(
	const struct scene *s, enum way way, const char *script, unsigned count, unsigned pace_us)
{
	static double us[KEYS];
	struct path floods[FLOODS];
	char cat[128], id[16];
	pid_t noise = 0;
	make_cat(s, cat);
	struct path typed = scene_path(s, way, "typed", cat);
	for (unsigned i = 0; i < count; i++) {
		snprintf(id, sizeof id, "noise%u", i);
		floods[i] = scene_path(s, way, id, script);
	}
	if (count > 0)
		noise = noise_start(floods, count);
	path_echo(&typed, pace_us, us, KEYS);
	if (count > 0)
		noise_end(noise, floods, count);
	path_close(&typed);
	return us;
}

static void measure(
	struct scene *s, const char *row, const char *name, unsigned floods, unsigned pace_us)
{
	char yes[128];
	target_script(&s->target, "yes", "#!/bin/sh\necho READY\nread go\nexec yes\n", yes);
	for (int w = 0; w < WAYS; w++) {
		double *us = echo_beside(s, (enum way)w, yes, floods, pace_us);
		scene_add_times(s, row, name, (enum way)w, us, KEYS);
	}
}

void row_echo(struct scene *s)
{
	measure(s, "echo", "echo", 0, 0);
	measure(s, "echo", "echo, a key every 2 ms", 0, PACE_US);
}

/* Start bash as in normal use: the server holds output of an unprepared bash back until its prompt. */
static struct path open_bash(const struct scene *s, enum way way)
{
	char script[128];
	if (way != WAY_RINGSIDE) {
		target_script(&s->target, "plain-bash", TARGET_BASH, script);
		return scene_path(s, way, NULL, script);
	}
	target_session_with(&s->target, "bash", "\"shell\":\"/bin/bash\"");
	struct path p = path_viewer(&s->target, "bash", "");
	path_drain(&p, PROMPT_MS);
	return p;
}

void row_readline(struct scene *s)
{
	static double us[KEYS];
	for (int w = 0; w < WAYS; w++) {
		struct path p = open_bash(s, (enum way)w);
		path_echo(&p, 0, us, KEYS);
		path_close(&p);
		if (w == WAY_RINGSIDE)
			target_delete(&s->target, "bash");
		scene_add_times(s, "readline", "echo of readline", (enum way)w, us, KEYS);
	}
}

void row_echo_flood(struct scene *s)
{
	measure(s, "echo-flood", "echo beside a flood", 1, 0);
}

void row_echo_floods(struct scene *s)
{
	measure(s, "echo-floods", "echo beside ten floods", FLOODS, 0);
}

/* Write a script that prints a pattern for ever. */
static void make_hostile(const struct scene *s, const char *pattern, size_t size, char *ret_path)
{
	char path[96], text[512];
	const struct pattern *p = pattern_find(pattern);
	char *bytes = malloc(size + 256);
	snprintf(path, sizeof path, "%s/hostile.bytes", s->target.dir);
	FILE *f = fopen(path, "w");
	if (!bytes || !f)
		die(path);
	size_t length = pattern_make(p, bytes, size);
	if (fwrite(bytes, 1, length, f) != length || fclose(f) != 0)
		die(path);
	free(bytes);
	snprintf(text, sizeof text, "#!/bin/sh\necho READY\nread go\nwhile cat %s; do :; done\n",
		path);
	target_script(&s->target, "hostile", text, ret_path);
}

void row_neighbour(struct scene *s)
{
	static const struct {
		const char *pattern, *name;
		size_t bytes;
	} hostile[] = {
		{"rep 99999", "echo beside REP 99999", PATTERN_BYTES},
		{"styles", "echo beside millions of styles", STYLES_BYTES},
		{"alternate", "echo beside flips of screens", PATTERN_BYTES},
	};
	for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
		char script[128], name[64];
		make_hostile(s, hostile[i].pattern, hostile[i].bytes, script);
		for (int w = 0; w < WAYS; w++) {
			double *us = echo_beside(s, (enum way)w, script, 1, PACE_US);
			scene_add_times(s, "neighbour", hostile[i].name, (enum way)w, us, KEYS);
			snprintf(name, sizeof name, "%s, worst", hostile[i].name);
			struct figure *worst = figures_at(
				&s->figures, "neighbour", name, "us", BETTER_LESS);
			worst->worst = true;
			figure_add(worst, (enum way)w, stats_quantile(us, KEYS, 1));
		}
	}
}
