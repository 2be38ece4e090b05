/*
 * The table of Ringside's speed: each figure is measured against a bare PTY and a plain relay in the same round.
 * README.md explains it.
 */
#include "figures.h"
#include "plot.h"
#include "process.h"
#include "table/rows.h"
#include "table/scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 5

struct row {
	const char *name;
	void (*run)(struct scene *s);
	bool once; /* in one round only: it takes long, or is not noisy */
};

static const struct row rows[] = {
	{"echo", row_echo},
	{"readline", row_readline},
	{"echo-flood", row_echo_flood},
	{"echo-floods", row_echo_floods},
	{"neighbour", row_neighbour},
	{"flood", row_flood},
	{"kinds", row_kinds},
	{"slow", row_slow},
	{"unwatched", row_unwatched},
	{"clients", row_clients},
	{"sessions", row_sessions},
	{"prompt", row_prompt},
	{"execute", row_execute},
	{"exec", row_exec},
	{"run", row_run},
	{"small", row_small},
	{"download", row_download},
	{"upload", row_upload},
	{"list", row_list},
	{"watch", row_watch},
	{"code", row_code},
	{"attach", row_attach},
	{"viewers", row_viewers},
	{"memory", row_memory, .once = true},
	{"idle", row_idle, .once = true},
};

#define ROWS (sizeof rows / sizeof *rows)

struct options {
	unsigned rounds;
	bool wanted[ROWS];
	const char *json, *plot; /* files to write; or NULL */
	const char *program;
};

static _Noreturn void usage(const char *program)
{
	fprintf(stderr,
		"usage: %s [-n ROUNDS] [-r ROW,ROW] [-i FILE]... [-j FILE] [-s FILE] [RINGSIDE]\nrows:",
		program);
	for (size_t i = 0; i < ROWS; i++)
		fprintf(stderr, " %s", rows[i].name);
	fprintf(stderr, "\n");
	exit(2);
}

/* Choose the rows of a list. Returns false if one does not exist. */
static bool choose(struct options *o, char *list)
{
	char *rest;
	memset(o->wanted, 0, sizeof o->wanted);
	for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		size_t i = 0;
		while (i < ROWS && strcmp(rows[i].name, name) != 0)
			i++;
		if (i == ROWS)
			return false;
		o->wanted[i] = true;
	}
	return true;
}

/* figures: receives those of earlier runs. */
static struct options read_options(int argc, char **argv, struct figures *figures)
{
	struct options o = {.rounds = ROUNDS};
	int option;
	memset(o.wanted, 1, sizeof o.wanted);
	while ((option = getopt(argc, argv, "n:r:i:j:s:")) != -1) {
		bool good = option != '?';
		if (option == 'n') {
			o.rounds = (unsigned)strtoul(optarg, NULL, 10);
			good = o.rounds > 0 && o.rounds <= FIGURES_ROUNDS_MAX;
		} else if (option == 'r')
			good = choose(&o, optarg);
		else if (option == 'i')
			figures_read_json(figures, optarg);
		else if (option == 'j')
			o.json = optarg;
		else if (option == 's')
			o.plot = optarg;
		if (!good)
			usage(argv[0]);
	}
	o.program = optind < argc ? argv[optind] : getenv("RINGSIDE");
	errno = 0;
	if (!o.program || access(o.program, X_OK) < 0)
		die("path of ringside");
	return o;
}

/* Show progress on a terminal. row: NULL at the end. */
static void show_progress(unsigned round, unsigned rounds, const char *row)
{
	if (!isatty(2))
		return;
	if (row)
		fprintf(stderr, "\rround %u of %u: %-20s", round + 1, rounds, row);
	else
		fprintf(stderr, "\r%40s\r", "");
}

int main(int argc, char **argv)
{
	static struct scene s;
	struct options o = read_options(argc, argv, &s.figures);
	scene_open(&s, o.program);
	for (unsigned round = 0; round < o.rounds; round++)
		for (size_t i = 0; i < ROWS; i++)
			if (o.wanted[i] && (round == 0 || !rows[i].once)) {
				show_progress(round, o.rounds, rows[i].name);
				rows[i].run(&s);
			}
	show_progress(0, 0, NULL);
	figures_print(&s.figures, stdout);
	if (o.json)
		figures_write_json(&s.figures, o.json);
	if (o.plot)
		plot_write(&s.figures, o.plot);
	scene_close(&s);
	return 0;
}
