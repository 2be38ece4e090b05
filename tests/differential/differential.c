/*
 * Compares our screen with libvterm's for the same output. Each line of stdin is a command; an answer on stdout ends with a
 * line ".":
 *   new ROWS COLS        two new screens, for another stream
 *   feed HEX             output; an unfinished sequence waits for the next
 *   size ROWS COLS       a resize
 *   without RULE         disable a rule from now on
 *   end                  the finding in the stream, if any
 *   rules                for each rule: name, section, explanation, its example in hexadecimal, number of uses
 *   figures              pieces, comparisons, snapshots painted, those that libvterm draws differently
 */
#include "opinion.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct opinion opinion;
static bool open;
static unsigned long *used;
static unsigned long pieces, compared, painted, unlike;
static uint8_t *left; /* bytes of an unfinished piece */
static size_t left_length;
static char without[64];

static void close_stream(void)
{
	if (!open)
		return;
	pieces += opinion.pieces;
	compared += opinion.compared;
	painted += opinion.painted;
	unlike += opinion.unlike;
	opinion_finish(&opinion);
	open = false;
}

static void open_stream(unsigned rows, unsigned cols)
{
	close_stream();
	opinion_init(&opinion, rows, cols, used);
	opinion.without = without[0] ? without : NULL;
	left_length = 0;
	open = true;
}

static void resize(unsigned rows, unsigned cols)
{
	opinion_resize(&opinion, rows, cols);
}

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void feed(const char *hex)
{
	left = realloc(left, left_length + strlen(hex) / 2 + 1);
	for (; isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]); hex += 2)
		left[left_length++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
	size_t taken = opinion_feed(&opinion, left, left_length);
	memmove(left, left + taken, left_length -= taken);
}

static void put_rules(void)
{
	for (unsigned i = 0; i < rules_count; i++) {
		printf("%s\t%s\t%s\t", rules[i].name, rules[i].section, rules[i].explanation);
		for (const char *c = rules[i].example; *c; c++)
			printf("%02x", (unsigned char)*c);
		printf("\t%lu\n", used[i]);
	}
}

/* Whether a line is this command. ret_rest: its arguments. */
static bool is_command(char *line, const char *name, char **ret_rest)
{
	size_t length = strlen(name);
	*ret_rest = line + length;
	return strncmp(line, name, length) == 0;
}

/* Run a command. Returns whether it has an answer. */
static bool run_command(char *line)
{
	char *rest;
	if (is_command(line, "new ", &rest) || is_command(line, "size ", &rest)) {
		unsigned rows = (unsigned)strtoul(rest, &rest, 10);
		(line[0] == 'n' ? open_stream : resize)(rows, (unsigned)strtoul(rest, &rest, 10));
		return false;
	}
	if (is_command(line, "feed ", &rest)) {
		feed(rest);
		return false;
	}
	if (is_command(line, "without ", &rest)) {
		snprintf(without, sizeof without, "%.*s", (int)strcspn(rest, "\n"), rest);
		return false;
	}
	if (is_command(line, "end", &rest))
		close_stream();
	else if (is_command(line, "rules", &rest))
		put_rules();
	else if (is_command(line, "figures", &rest))
		printf("%lu %lu %lu %lu\n", pieces, compared, painted, unlike);
	else
		abort();
	return true;
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;
	used = calloc(rules_count, sizeof *used);
	while (getline(&line, &size, stdin) > 0) {
		if (!run_command(line))
			continue;
		puts(".");
		fflush(stdout);
	}
	close_stream();
	free(line);
	free(left);
	free(used);
	return 0;
}
