/*
 * Runs ring/scan for tests in another language. Each line of input is a program's output in hexadecimal, which is fed
 * byte by byte. The answer is a line: for every prefix, including the empty one, whether output may be cut there (1 or
 * 0); the output as clients get it, in hexadecimal; and the queries found, as start+length, with an m if the query is
 * too long to be judged.
 */
#include "ring/queries.h"
#include "tests/lib/scanned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decode hexadecimal digits in place. Returns the number of bytes. */
static size_t decode(char *line)
{
	size_t length = 0;
	unsigned byte;
	for (const char *p = line; sscanf(p, "%2x", &byte) == 1; p += 2)
		line[length++] = (char)byte;
	return length;
}

static void print_cuts(struct scanned *s, const char *bytes, size_t length)
{
	putchar('1');
	for (size_t i = 0; i < length; i++) {
		scanned_feed(s, bytes + i, 1);
		putchar(s->scan.ground == s->scan.offset ? '1' : '0');
	}
}

static void print_replay(const struct scanned *s, const char *bytes, size_t length)
{
	struct queries q;
	uint8_t *replay = malloc(length + 1);
	SCANNED_CHECK(replay != NULL);
	memcpy(replay, bytes, length);
	queries_init(&q);
	for (size_t i = 0; i < s->count; i++)
		queries_add(&q, &s->ranges[i]);
	SCANNED_CHECK(queries_apply(&q, 0, replay, length) == length);
	putchar(' ');
	for (size_t i = 0; i < length; i++)
		printf("%02x", replay[i]);
	queries_finish(&q);
	free(replay);
}

static void run(const char *bytes, size_t length)
{
	struct scanned s;
	scanned_init(&s, 0);
	print_cuts(&s, bytes, length);
	print_replay(&s, bytes, length);
	for (size_t i = 0; i < s.count; i++)
		printf(" %llu+%u%s", (unsigned long long)s.ranges[i].start, s.ranges[i].length,
			s.ranges[i].muted ? "m" : "");
	putchar('\n');
	scanned_finish(&s);
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;
	while (getline(&line, &size, stdin) > 0)
		run(line, decode(line));
	free(line);
	return 0;
}
