/*
 * The echo of a key, on a bare PTY and in ringside: by the terminal (cat) and by readline (bash), idle and beside a
 * session that floods. The other baseline is a byte over loopback TCP and back. Each round measures all in turn.
 */
#include "noise.h"
#include "path.h"
#include "process.h"
#include "stats.h"
#include "target.h"

#include <stdio.h>

#define KEYS 300 /* per round */
#define PACE_US 2000
#define PROMPT_MS 300 /* of silence after the prompt */
#define ROUNDS_MAX 101

enum way { WAY_BARE, WAY_RINGSIDE, WAY_TCP, WAYS };

struct series {
	double p50[ROUNDS_MAX], p99[ROUNDS_MAX]; /* microseconds */
};

static void measure(struct path *p, unsigned pause_us, struct series *s, unsigned round)
{
	static double us[KEYS];
	path_echo(p, pause_us, us, KEYS);
	s->p50[round] = stats_quantile(us, KEYS, 0.5);
	s->p99[round] = stats_quantile(us, KEYS, 0.99);
}

static void print_case(const char *name, struct series *s, unsigned rounds, struct stats_line *line)
{
	double p50[WAYS] = {0}, p99[WAYS] = {0}, extra[ROUNDS_MAX];
	for (unsigned i = 0; i < rounds; i++)
		extra[i] = s[WAY_RINGSIDE].p50[i] - s[WAY_BARE].p50[i];
	double more = stats_median(extra, rounds), least = 0;
	double best[WAYS] = {0};
	for (int w = 0; w < WAYS; w++) {
		if (s[w].p50[0] == 0)
			continue;
		p50[w] = stats_median(s[w].p50, rounds);
		best[w] = stats_quantile(s[w].p50, rounds, 0);
		p99[w] = stats_median(s[w].p99, rounds);
	}
	least = best[WAY_RINGSIDE] - best[WAY_BARE];
	printf("%-12s %7.1f %8.1f %9.1f %8.1f %8.1f %8.1f %9.1f %9.1f %7.2f\n", name, p50[WAY_BARE],
		p99[WAY_BARE], p50[WAY_RINGSIDE], p99[WAY_RINGSIDE], p50[WAY_TCP], p99[WAY_TCP],
		more, least, p50[WAY_RINGSIDE] / p50[WAY_BARE]);
	stats_add(line, p50[WAY_BARE], "%s_bare_p50_us", name);
	stats_add(line, p99[WAY_BARE], "%s_bare_p99_us", name);
	stats_add(line, p50[WAY_RINGSIDE], "%s_p50_us", name);
	stats_add(line, p99[WAY_RINGSIDE], "%s_p99_us", name);
	stats_add(line, more, "%s_extra_p50_us", name);
	stats_add(line, least, "%s_extra_best_us", name);
}

/* Start bash as in normal use: the server holds output of an unprepared bash back until its prompt. */
static struct path open_bash(const struct target *t)
{
	target_session_with(t, "bash", "\"shell\":\"/bin/bash\"");
	struct path p = path_viewer(t, "bash", "");
	path_drain(&p, PROMPT_MS);
	return p;
}

/* Measure one program, idle: keys back to back, and with the pauses of a fast typist. */
static void measure_idle(struct path *paths, struct series s[][WAYS], unsigned round)
{
	for (int w = 0; w < WAYS; w++)
		measure(&paths[w], 0, &s[0][w], round);
	for (int w = 0; w < WAYS; w++)
		measure(&paths[w], PACE_US, &s[1][w], round);
}

static void measure_beside_flood(const struct target *t, struct path *paths, const char *yes,
	struct series *s, unsigned round)
{
	struct path flood = path_bare(yes);
	pid_t noise = noise_start(&flood, 1);
	measure(&paths[WAY_BARE], 0, &s[WAY_BARE], round);
	measure(&paths[WAY_TCP], 0, &s[WAY_TCP], round);
	noise_end(noise, &flood, 1);
	flood = path_session(t, "noise", yes);
	noise = noise_start(&flood, 1);
	measure(&paths[WAY_RINGSIDE], 0, &s[WAY_RINGSIDE], round);
	noise_end(noise, &flood, 1);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"cat", "cat_paced", "cat_flood", "bash", "bash_paced", "bash_flood"};
	static struct series series[6][WAYS];
	static struct stats_line line;
	static struct target t;
	char cat[128], bash[128], yes[128];
	unsigned rounds = 5;
	const char *program = target_arguments(argc, argv, &rounds);
	rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
	target_open(&t, program, 4ul << 20);
	target_script(&t, "cat", "#!/bin/sh\necho READY\nexec cat\n", cat);
	target_script(&t, "bash",
		"#!/bin/sh\nexport TERM=xterm PS1='READY ' PROMPT_COMMAND= HISTFILE=\n"
		"exec bash --norc --noprofile -i\n",
		bash);
	target_script(&t, "yes", "#!/bin/sh\necho READY\nread go\nexec yes\n", yes);
	struct path through_tcp = path_tcp();
	struct path paths[2][WAYS] = {
		{path_bare(cat), path_session(&t, "cat", cat), through_tcp},
		{path_bare(bash), open_bash(&t), through_tcp},
	};
	for (unsigned n = 0; n < rounds; n++)
		for (int i = 0; i < 2; i++) {
			measure_idle(paths[i], series + 3 * i, n);
			measure_beside_flood(&t, paths[i], yes, series[3 * i + 2], n);
		}
	printf("echo: microseconds; median over rounds of each round's p50 and p99\n"
	       "case         bare50   bare99 ringsd50 ringsd99    tcp50    tcp99   extra50 best-best   ratio\n");
	for (int i = 0; i < 6; i++)
		print_case(names[i], series[i], rounds, &line);
	stats_print(&line, "echo");
	path_close(&through_tcp);
	target_close(&t);
	return 0;
}
