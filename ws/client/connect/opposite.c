/*
 * getopt_long() parses the words here as it will later, so that the value of an option, or a word
 * of a command to run, is not mistaken for an opposite. The later pass reports errors.
 */
#include "ws/client/connect/opposite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 40u       /* bytes of an option's name */
#define OPPOSITE_FIRST 5000 /* getopt_long() returns this for the opposite of options[0] */
#define SHORTS_MAX 32u

/* The options, and their opposites. */
struct table {
	struct option all[2 * OPPOSITES_MAX + 1];
	char names[OPPOSITES_MAX][NAME_SIZE];
};

static bool has_name(const struct option *options, const char *name)
{
	for (; options->name; options++)
		if (strcmp(options->name, name) == 0)
			return true;
	return false;
}

static void make_table(struct table *t, const struct option *options)
{
	size_t n = 0, i;
	for (const struct option *o = options; o->name && n < OPPOSITES_MAX; o++)
		t->all[n++] = *o;
	size_t count = n;
	for (i = 0; i < count; i++) {
		const char *name = options[i].name;
		bool negative = strncmp(name, "no-", 3) == 0;
		snprintf(t->names[i], NAME_SIZE, "%s%s", negative ? "" : "no-",
			negative ? name + 3 : name);
		if (options[i].has_arg == no_argument && !has_name(options, t->names[i]))
			t->all[n++] = (struct option){
				.name = t->names[i], .val = OPPOSITE_FIRST + (int)i};
	}
	t->all[n] = (struct option){0};
}

/* Remove the words that are marked -1. Returns how many are left. */
static int remove_marked(int argc, char **argv, const int *words)
{
	int kept = 0;
	for (int i = 0; i < argc; i++) {
		if (words[i] < 0)
			continue;
		if (i != kept)
			argv[kept] = argv[i];
		kept++;
	}
	if (kept < argc)
		argv[kept] = NULL;
	return kept;
}

int opposite_remove(int argc, char **argv, const char *shorts, const struct option *options,
	bool taken[OPPOSITES_MAX])
{
	struct table t;
	char in_order[SHORTS_MAX];
	int option, place = -1;
	/* For each word its option, from 1 on; -1: to be removed. */
	int *words = calloc((size_t)argc + 1, sizeof *words);
	memset(taken, 0, OPPOSITES_MAX * sizeof *taken);
	if (!words)
		return argc;
	make_table(&t, options);
	snprintf(in_order, sizeof in_order, "%s%s", shorts[0] == '+' ? "" : "-", shorts);
	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv, in_order, t.all, &place)) != -1) {
		int which = option >= OPPOSITE_FIRST ? option - OPPOSITE_FIRST : place;
		if (option >= OPPOSITE_FIRST) {
			taken[which] = true;
			words[optind - 1] = -1;
			for (int i = 1; i < optind - 1; i++)
				words[i] = words[i] == which + 1 ? -1 : words[i];
		} else if (place >= 0 && options[place].has_arg == no_argument) {
			taken[which] = false;
			words[optind - 1] = which + 1;
		}
		place = -1;
	}
	argc = remove_marked(argc, argv, words);
	free(words);
	optind = 0;
	return argc;
}
