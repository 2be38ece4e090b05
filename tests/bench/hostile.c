/*
 * Expensive output on a screen in memory: its cost for a byte compared to plain text on a screen of the same size, the
 * longest time that cannot be interrupted, and its memory. Then resizes, snapshots and restores of full screens. CPU
 * time; each case runs in a child, so that the peak of memory is its own, and stops after two seconds, which ">" shows.
 */
#include "pattern.h"
#include "process.h"
#include "stats.h"

#include "ring/screen/screen.h"
#include "ring/screen/view/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCROLLBACK SCREEN_SCROLLBACK_DEFAULT
#define SHORT ((size_t)64 << 10)
#define LONG ((size_t)1 << 20)
#define WORK 4096u /* cells after which a feed may be interrupted */
#define SECONDS_MAX 2.0

#define CSI "\033["

static const struct size {
	unsigned cols, rows;
} sizes[] = {{80, 24}, {1000, 1000}, {2, 1}, {1000, 2}};

#define SIZES (sizeof sizes / sizeof *sizes)

static double peak_mib(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static struct screen *make_screen(const struct size *size)
{
	struct screen *s;
	int rc = screen_create(&s,
		&(struct screen_options){
			.rows = size->rows, .cols = size->cols, .scrollback = SCROLLBACK});
	errno = -rc;
	if (rc < 0)
		die("screen");
	return s;
}

/* The result of a case. */
struct result {
	double ns;    /* per byte */
	double stall; /* the longest feed, in milliseconds */
	double mib;   /* peak of memory without the input */
	bool cut;     /* stopped after SECONDS_MAX */
};

static void feed(struct screen *s, const char *bytes, size_t length, struct result *r)
{
	double start = stats_cpu(), before = start, now = start;
	size_t at = 0;
	while (at < length) {
		at += screen_feed(s, bytes + at, length - at, WORK);
		now = stats_cpu();
		if (1000 * (now - before) > r->stall)
			r->stall = 1000 * (now - before);
		before = now;
		if (now - start > SECONDS_MAX)
			break;
	}
	r->ns = 1e9 * (now - start) / (double)at;
	r->cut = at < length;
}

/* Run a case in a child. */
static struct result run_in_child(struct result (*run)(const void *a, const void *b, size_t length),
	const void *a, const void *b, size_t length)
{
	int fds[2], status;
	struct result r;
	if (pipe(fds) < 0)
		die("pipe");
	pid_t pid = process_fork();
	if (pid == 0) {
		r = run(a, b, length);
		_exit(write(fds[1], &r, sizeof r) != sizeof r);
	}
	close(fds[1]);
	bool whole = read(fds[0], &r, sizeof r) == sizeof r;
	close(fds[0]);
	if (waitpid(pid, &status, 0) != pid || status != 0 || !whole)
		die("a case");
	return r;
}

static struct result run_load(const void *load, const void *size, size_t length)
{
	const struct pattern *p = load;
	struct result r = {0};
	char *bytes = malloc(length + 256);
	if (!bytes)
		die("memory");
	length = pattern_make(p, bytes, length);
	double before = peak_mib();
	struct screen *s = make_screen(size);
	screen_feed(s, p->before, strlen(p->before), SIZE_MAX);
	feed(s, bytes, length, &r);
	r.mib = peak_mib() - before;
	return r;
}

static void print(const struct result *r, const struct result *text)
{
	printf(" %s%-7.4g %8.1f %7.2f %6.1f", r->cut ? ">" : " ", r->ns / text->ns, r->ns, r->stall,
		r->mib);
}

static void measure_loads(size_t length, const char *only, struct stats_line *line)
{
	struct result text[SIZES];
	printf("\n%zu KiB: times the cost of plain text; ns a byte; the longest stretch in ms; MiB of memory\n%-18s",
		length >> 10, "");
	for (size_t k = 0; k < SIZES; k++)
		printf("  %4u x %-25u", sizes[k].cols, sizes[k].rows);
	printf("\n");
	for (size_t k = 0; k < SIZES; k++)
		text[k] = run_in_child(run_load, pattern_at(0), &sizes[k], LONG);
	const struct pattern *p;
	for (size_t i = 0; (p = pattern_at(i)); i++) {
		double worst = 0;
		if (only && !strstr(p->name, only))
			continue;
		printf("%-18s", p->name);
		for (size_t k = 0; k < SIZES; k++) {
			struct result r = run_in_child(run_load, p, &sizes[k], length);
			print(&r, &text[k]);
			if (r.ns / text[k].ns > worst)
				worst = r.ns / text[k].ns;
			fflush(stdout);
		}
		printf("\n");
		if (length == LONG)
			stats_add(line, worst, "load_%zu_ratio", i);
	}
}

/* A full scrollback of lines like `again`. */
struct full {
	const char *name;
	struct size size, to;
	unsigned scrollback;
	struct pattern lines;
};

#define WORDS "all work and no play makes jack a dull boy, "

static const struct full fulls[] = {
	{"one long line", {1000, 1000}, {2, 1000}, SCROLLBACK, {"", "", WORDS}},
	{"one long line", {1000, 24}, {2, 24}, SCROLLBACK, {"", "", WORDS}},
	{"lines", {1000, 24}, {2, 24}, SCROLLBACK, {"", "", WORDS WORDS WORDS "\r\n"}},
	{"letters", {1000, 24}, {2, 24}, SCROLLBACK, {"", "", "x" CSI "998b\r\n"}},
	{"wide letters", {1000, 24}, {3, 24}, SCROLLBACK, {"", "", "\xe4\xbd\xa0" CSI "498b\r\n"}},
	{"letters, to 80", {1000, 24}, {80, 24}, SCROLLBACK, {"", "", "x" CSI "998b\r\n"}},
	{"wider", {2, 24}, {1000, 24}, SCROLLBACK, {"", "", WORDS}},
	{"short, wider", {2, 24}, {1000, 24}, SCROLLBACK, {"", "", "xxx\r\n"}},
	{"plain", {100, 24}, {80, 24}, SCROLLBACK, {"", "", WORDS WORDS "\r\n"}},
	{"large", {1000, 24}, {2, 24}, 100000, {"", "", WORDS WORDS "\r\n"}},
	{"largest", {1000, 24}, {2, 24}, SCREEN_SCROLLBACK_MAX, {"", "", WORDS "\r\n"}},
};

static struct result run_resize(const void *full, const void *back, size_t length)
{
	const struct full *f = full;
	struct result r = {0};
	struct screen *s;
	(void)length;
	if (screen_create(&s,
		    &(struct screen_options){.rows = f->size.rows,
			    .cols = f->size.cols,
			    .scrollback = f->scrollback}) < 0)
		die("screen");
	const char *line = f->lines.again;
	while (screen_dropped(s) < 1000)
		screen_feed(s, line, strlen(line), SIZE_MAX);
	if (back)
		screen_resize(s, f->to.rows, f->to.cols);
	double before = peak_mib(), start = stats_cpu();
	const struct size *to = back ? &f->size : &f->to;
	if (screen_resize(s, to->rows, to->cols) < 0)
		die("resize");
	r.stall = 1000 * (stats_cpu() - start);
	r.mib = peak_mib() - before;
	return r;
}

static void measure_resizes(struct stats_line *line)
{
	printf("\nResizes with a full scrollback: ms and MiB there; ms and MiB back\n");
	for (size_t i = 0; i < sizeof fulls / sizeof *fulls; i++) {
		const struct full *f = &fulls[i];
		struct result there = run_in_child(run_resize, f, NULL, 0),
			      back = run_in_child(run_resize, f, f, 0);
		printf("%-18s %4u x %-4u to %4u x %-4u %8u lines %9.2f %7.1f %9.2f %7.1f\n",
			f->name, f->size.cols, f->size.rows, f->to.cols, f->to.rows, f->scrollback,
			there.stall, there.mib, back.stall, back.mib);
		fflush(stdout);
		stats_add(line, there.stall, "resize_%zu_ms", i);
	}
}

/* A screen with a different style in each cell. */
static struct result run_snapshot(const void *size, const void *restore, size_t length)
{
	const struct size *z = size;
	struct result r = {0};
	struct screen *s = make_screen(size);
	struct snapshot snapshot;
	char text[64];
	(void)length;
	for (unsigned i = 0; i < z->rows * z->cols; i++) {
		int n = snprintf(
			text, sizeof text, CSI "38;2;%u;%u;%um.", i >> 16, i >> 8 & 255, i & 255);
		screen_feed(s, text, (size_t)n, SIZE_MAX);
	}
	double before = peak_mib(), start = stats_cpu();
	if (screen_checkpoint(s, SCROLLBACK, &snapshot) < 0)
		die("snapshot");
	if (restore) {
		struct screen *fresh = make_screen(size);
		start = stats_cpu();
		screen_restore(fresh, snapshot.bytes, snapshot.length);
	}
	r.stall = 1000 * (stats_cpu() - start);
	r.mib = peak_mib() - before;
	r.ns = (double)snapshot.length / z->rows / z->cols;
	return r;
}

static void measure_snapshots(struct stats_line *line)
{
	printf("\nEach cell in a style of its own: bytes of a snapshot a cell, ms, MiB; ms and MiB to restore it\n");
	for (size_t k = 0; k < SIZES; k++) {
		struct result taken = run_in_child(run_snapshot, &sizes[k], NULL, 0),
			      put = run_in_child(run_snapshot, &sizes[k], &sizes[k], 0);
		printf("%4u x %-4u %8.1f %9.2f %7.1f %9.2f %7.1f\n", sizes[k].cols, sizes[k].rows,
			taken.ns, taken.stall, taken.mib, put.stall, put.mib);
		stats_add(line, taken.stall, "snapshot_%zu_ms", k);
	}
}

int main(int argc, char **argv)
{
	static struct stats_line line;
	const char *only = argc > 1 ? argv[1] : NULL;
	bool all = !only || strcmp(only, "-r") != 0;
	if (all) {
		measure_loads(SHORT, only, &line);
		measure_loads(LONG, only, &line);
	}
	if (!only || !all) {
		measure_resizes(&line);
		measure_snapshots(&line);
	}
	stats_print(&line, "hostile");
	return 0;
}
