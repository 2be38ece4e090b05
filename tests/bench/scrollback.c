/*
 * Scrollback, frozen and not: the memory of 10,000 lines, the time of a search over all, a snapshot, a new width, and
 * further output. The lines are a compiler's log with colours, 80 columns wide, without links, each of which is stored
 * separately in either case. CPU time; each round measures both, and ratios are taken within a round.
 */
#include "process.h"
#include "stats.h"
#include "streams.h"
#include "target.h"

#include "ring/screen/screen.h"
#include "ring/screen/trim.h"
#include "ring/screen/view/snapshot.h"
#include "ring/search/search.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 24u
#define COLS 80u
#define LINES 10000u
#define BYTES ((size_t)8 << 20)
#define PIECE \
	((size_t)16 << 10) /* of output between two moments in which there is nothing else to do */
#define ROUNDS_MAX 101
#define SEARCH_MS 30.0 /* the most that a user who types a search term should wait */

enum value { KIB, FREEZE, SEARCH, SNAPSHOT, NARROW, PUSH, VALUES };

static const struct {
	const char *name, *unit;
} names[VALUES] = {{"heap", "KiB"}, {"freezing all", "ms"}, {"search over all", "ms"},
	{"snapshot of all", "ms"}, {"20 columns fewer", "ms"}, {"output", "MB/s"}};

static uint8_t bytes[BYTES];

static void need(int rc, const char *what)
{
	errno = -rc;
	if (rc < 0)
		die(what);
}

static double heap_kib(void)
{
	struct mallinfo2 info = mallinfo2();
	return (double)(info.uordblks + info.hblkhd) / 1024;
}

static void freeze(struct screen *s)
{
	while (screen_freeze(s, 4))
		;
}

static double search(const struct screen *s)
{
	struct search search = {.limit = 100, .work = UINT64_MAX};
	const char *text = "no such thing", *problem;
	need(pattern_create(&search.pattern, text, strlen(text), 0, &problem), "pattern");
	double start = stats_cpu();
	need(search_screen(&search, s, SEARCH_NO_LINE), "search");
	double seconds = stats_cpu() - start;
	search_finish(&search);
	pattern_destroy(search.pattern);
	return 1000 * seconds;
}

static double snapshot(struct screen *s)
{
	struct snapshot snapshot;
	double start = stats_cpu();
	need(screen_snapshot(s, LINES, &snapshot), "snapshot");
	double seconds = stats_cpu() - start;
	free(snapshot.bytes);
	return 1000 * seconds;
}

static double push(struct screen *s, size_t length, bool frozen)
{
	double seconds = 0;
	for (size_t at = 0; at < length; at += PIECE) {
		size_t end = length - at < PIECE ? length : at + PIECE;
		double start = stats_cpu();
		for (size_t next = at; next < end;)
			next += screen_feed(s, bytes + next, end - next, SIZE_MAX);
		seconds += stats_cpu() - start;
		if (frozen)
			freeze(s);
	}
	return (double)length / 1e6 / seconds;
}

static void measure(size_t length, bool frozen, double values[VALUES])
{
	struct screen *s;
	double before = heap_kib(), start;
	need(screen_create(
		     &s, &(struct screen_options){.rows = ROWS, .cols = COLS, .scrollback = LINES}),
		"screen");
	values[PUSH] = push(s, length, frozen);
	if (screen_scrollback(s) != LINES)
		die("too little output");
	values[KIB] = heap_kib() - before;
	values[SEARCH] = search(s);
	values[SNAPSHOT] = snapshot(s);
	start = stats_cpu();
	need(screen_resize(s, ROWS, COLS - 20), "resize");
	values[NARROW] = 1000 * (stats_cpu() - start);
	start = stats_cpu();
	if (frozen)
		freeze(s);
	values[FREEZE] = 1000 * (stats_cpu() - start);
	screen_destroy(s);
	malloc_trim(0);
}

static void print(
	double *plain, double *frozen, unsigned rounds, enum value value, struct stats_line *line)
{
	double ratio = stats_ratio(frozen, plain, rounds);
	double a = stats_median(plain, rounds), b = stats_median(frozen, rounds);
	printf("%-18s %10.2f %10.2f %5s", names[value].name, a, b, names[value].unit);
	if (value == FREEZE)
		printf("\n");
	else
		printf(" %8.2f\n", ratio);
	stats_add(line, a, "%u_plain", (unsigned)value);
	stats_add(line, b, "%u_frozen", (unsigned)value);
}

int main(int argc, char **argv)
{
	static struct stats_line line;
	static double plain[VALUES][ROUNDS_MAX], frozen[VALUES][ROUNDS_MAX];
	unsigned rounds = 5;
	target_rounds(argc, argv, &rounds, ROUNDS_MAX);
	size_t length = stream_without_links(bytes, stream_make(STREAM_COMPILER, bytes, BYTES));
	for (unsigned n = 0; n < rounds; n++) {
		double a[VALUES], b[VALUES];
		measure(length, false, a);
		measure(length, true, b);
		for (int i = 0; i < VALUES; i++) {
			plain[i][n] = a[i];
			frozen[i][n] = b[i];
		}
	}
	printf("scrollback: %u lines of %u columns of a compiler's log\n%-18s %10s %10s %5s %8s\n",
		LINES, COLS, "", "not frozen", "frozen", "", "ratio");
	for (int i = 0; i < VALUES; i++)
		print(plain[i], frozen[i], rounds, (enum value)i, &line);
	double search = stats_median(frozen[SEARCH], rounds);
	double pushed = stats_median(frozen[PUSH], rounds) / stats_median(plain[PUSH], rounds);
	printf("a search over all frozen: %.1f ms, %s %.0f ms; output beside them: %.2f of its speed without\n",
		search, search <= SEARCH_MS ? "within" : "MORE THAN", SEARCH_MS, pushed);
	stats_print(&line, "scrollback");
	return 0;
}
