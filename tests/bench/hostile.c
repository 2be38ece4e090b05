/*
 * Output that is made to be expensive, on a screen in memory: what a byte of it costs next to a byte of plain text on
 * a screen of the same size, how long the longest stretch takes that nothing can interrupt, and what memory it needs.
 * Resizes, snapshots and restores of full screens follow. CPU time; each case runs in a child, so that its peak of
 * memory is its own, and ends after two seconds at the latest: ">" says so.
 */
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
#include <time.h>
#include <unistd.h>

#define SCROLLBACK SCREEN_SCROLLBACK_DEFAULT
#define SHORT ((size_t)64 << 10)
#define LONG ((size_t)1 << 20)
#define WORK 4096u /* cells after which a feed may be interrupted */
#define SECONDS_MAX 2.0

/* Sequences over and over; a "%" in them is a number that counts up, as three bytes apart by semicolons. */
struct load {
	const char *name;
	const char *before; /* once */
	const char *again;
};

#define ESC "\033"
#define CSI "\033["

static const struct load loads[] = {
	{"text", "", "The quick brown fox jumps over the lazy dog, and then once more.\r\n"},
	{"newlines", "", "\n"},
	{"newlines red", CSI "41m", "\n"},
	{"wide", "", "\xe4\xbd\xa0"},
	{"zalgo", "", "\xcc\x81"},
	{"zalgo after text", "x", "x\xcc\x81\xcc\x82\xcc\x83"},
	{"rep 99999", "", "x" CSI "99999b"},
	{"rep 99999 chain", "x", CSI "99999b"},
	{"rep 99999 wide", "", "\xe4\xbd\xa0" CSI "99999b"},
	{"rep 99999 cluster", "", "e\xcc\x81" CSI "99999b"},
	{"rep 999", "", "x" CSI "999b"},
	{"rep in a region", CSI "2;9r", "x" CSI "99999b"},
	{"rep no wrap", CSI "?7l", "x" CSI "99999b"},
	{"rep insert", CSI "4h", "x" CSI "99999b"},
	{"rep insert wide", CSI "4h", "\xe4\xbd\xa0" CSI "99999b"},
	{"rep alternate", CSI "?1049h", "x" CSI "99999b"},
	{"insert text", CSI "4h", "abcdefgh\r"},
	{"insert full", CSI "4h", "a\r"},
	{"ich", "x", CSI "H" CSI "99999@"},
	{"ich 1", "x" CSI "99999bx", CSI "H" CSI "@"},
	{"dch", "x", CSI "99999P"},
	{"dch 1", "x" CSI "99999b" CSI "H", CSI "P"},
	{"ech red", CSI "41m", CSI "99999X"},
	{"il", "", CSI "99999L"},
	{"il red", CSI "41m", CSI "99999L"},
	{"il 500 red", CSI "41m", CSI "500L"},
	{"dl", "", CSI "99999M"},
	{"dl 500", "", CSI "500M"},
	{"su", "", CSI "99999S"},
	{"su red", CSI "41m", CSI "99999S"},
	{"su 500", "", CSI "500S"},
	{"sd", "", CSI "99999T"},
	{"sd 1", "", CSI "T"},
	{"sl", "x" CSI "99999bx", CSI "99999 @"},
	{"sr 1", "x" CSI "99999bx", CSI "1 A"},
	{"decdc", "x" CSI "99999bx", CSI "'~"},
	{"ri", CSI "H", ESC "M"},
	{"ri red", CSI "H" CSI "41m", ESC "M"},
	{"ed 2", "", CSI "2J"},
	{"ed 2 red", CSI "41m", CSI "2J"},
	{"ed 2 full", "", "x" CSI "99999b" CSI "2J"},
	{"ed 2 two colours", "", CSI "41;2J" CSI "41m" CSI "2J" CSI "42m" CSI "2J"},
	{"ed 3", "", "\n" CSI "3J"},
	{"decsed", CSI "1\"q" ESC "#8", CSI "?2J"},
	{"el red", CSI "41m", CSI "2K"},
	{"decaln", "", ESC "#8"},
	{"ris", "", ESC "c"},
	{"alternate", "", CSI "?1049h" CSI "?1049l"},
	{"alternate red", CSI "41m", CSI "?47h" CSI "?47l"},
	{"tabs", "", ESC "H" CSI "g" CSI "99999I" CSI "99999Z"},
	{"cht alone", CSI "3g", CSI "I" CSI "Z"},
	{"tbc 3", "", CSI "3g"},
	{"margins", "", CSI "2;9r" CSI "r"},
	{"styles", "", CSI "38;2;%mx"},
	{"styles red", "", CSI "48;2;%m" CSI "K" CSI "7m" CSI "48;5;1m"},
	{"styles in place", "", "\r" CSI "38;2;%mx"},
	{"styles unseen", "", CSI "38;2;%m" CSI "K"},
	{"links", "", ESC "]8;;http://%\ax"},
	{"links in place", "", "\r" ESC "]8;;http://%\ax"},
	{"links with id", "", ESC "]8;id=a%;b\ax"},
	{"titles", "", ESC "]0;title\a" CSI "22;0t"},
	{"titles back", "", CSI "22;0t" CSI "23;0t"},
	{"palette", "", ESC "]104\a"},
	{"palette set", "", ESC "]4;1;#123456\a"},
	{"kitty", "", CSI ">1u" CSI "<99999u"},
	{"decscusr", "", CSI "1 q"},
	{"many modes", "", CSI "?6;6;6;6;6;6;6;6;6;6;6;6;6;6;6;6h"},
	{"many flips", "", CSI "?47;1047;1049;47h" CSI "?47;1047;1049;47l"},
};

#define LOADS (sizeof loads / sizeof *loads)

static const struct size {
	unsigned cols, rows;
} sizes[] = {{80, 24}, {1000, 1000}, {2, 1}, {1000, 2}};

#define SIZES (sizeof sizes / sizeof *sizes)

static double cpu(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double peak_mib(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

/* Room for length bytes of it and a sequence more. Returns the bytes, whole sequences. */
static size_t make(const struct load *l, char *bytes, size_t length)
{
	size_t n = 0;
	for (unsigned i = 0; n < length; i++)
		for (const char *at = l->again; *at; at++)
			if (*at == '%')
				n += (size_t)sprintf(bytes + n, "%u;%u;%u", i >> 16 & 255,
					i >> 8 & 255, i & 255);
			else
				bytes[n++] = *at;
	return n;
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

/* What a case has come to. */
struct result {
	double ns;    /* of a byte */
	double stall; /* the longest feed, in milliseconds */
	double mib;   /* peak of memory, without the input */
	bool cut;     /* it took too long */
};

static void feed(struct screen *s, const char *bytes, size_t length, struct result *r)
{
	double start = cpu(), before = start, now = start;
	size_t at = 0;
	while (at < length) {
		at += screen_feed(s, bytes + at, length - at, WORK);
		now = cpu();
		if (1000 * (now - before) > r->stall)
			r->stall = 1000 * (now - before);
		before = now;
		if (now - start > SECONDS_MAX)
			break;
	}
	r->ns = 1e9 * (now - start) / (double)at;
	r->cut = at < length;
}

/* Run in a child, which is given the case. */
static struct result apart(struct result (*run)(const void *a, const void *b, size_t length),
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
	const struct load *l = load;
	struct result r = {0};
	char *bytes = malloc(length + 256);
	if (!bytes)
		die("memory");
	length = make(l, bytes, length);
	double before = peak_mib();
	struct screen *s = make_screen(size);
	screen_feed(s, l->before, strlen(l->before), SIZE_MAX);
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
		text[k] = apart(run_load, &loads[0], &sizes[k], LONG);
	for (size_t i = 0; i < LOADS; i++) {
		double worst = 0;
		if (only && !strstr(loads[i].name, only))
			continue;
		printf("%-18s", loads[i].name);
		for (size_t k = 0; k < SIZES; k++) {
			struct result r = apart(run_load, &loads[i], &sizes[k], length);
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

/* A full scrollback, whose lines are as `again` says. */
struct full {
	const char *name;
	struct size size, to;
	unsigned scrollback;
	struct load lines;
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
	double before = peak_mib(), start = cpu();
	const struct size *to = back ? &f->size : &f->to;
	if (screen_resize(s, to->rows, to->cols) < 0)
		die("resize");
	r.stall = 1000 * (cpu() - start);
	r.mib = peak_mib() - before;
	return r;
}

static void measure_resizes(struct stats_line *line)
{
	printf("\nResizes with a full scrollback: ms and MiB there; ms and MiB back\n");
	for (size_t i = 0; i < sizeof fulls / sizeof *fulls; i++) {
		const struct full *f = &fulls[i];
		struct result there = apart(run_resize, f, NULL, 0),
			      back = apart(run_resize, f, f, 0);
		printf("%-18s %4u x %-4u to %4u x %-4u %8u lines %9.2f %7.1f %9.2f %7.1f\n",
			f->name, f->size.cols, f->size.rows, f->to.cols, f->to.rows, f->scrollback,
			there.stall, there.mib, back.stall, back.mib);
		fflush(stdout);
		stats_add(line, there.stall, "resize_%zu_ms", i);
	}
}

/* A screen of which each cell has a style of its own. */
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
	double before = peak_mib(), start = cpu();
	if (screen_checkpoint(s, SCROLLBACK, &snapshot) < 0)
		die("snapshot");
	if (restore) {
		struct screen *fresh = make_screen(size);
		start = cpu();
		screen_restore(fresh, snapshot.bytes, snapshot.length);
	}
	r.stall = 1000 * (cpu() - start);
	r.mib = peak_mib() - before;
	r.ns = (double)snapshot.length / z->rows / z->cols;
	return r;
}

static void measure_snapshots(struct stats_line *line)
{
	printf("\nEach cell in a style of its own: bytes of a snapshot a cell, ms, MiB; ms and MiB to restore it\n");
	for (size_t k = 0; k < SIZES; k++) {
		struct result taken = apart(run_snapshot, &sizes[k], NULL, 0),
			      put = apart(run_snapshot, &sizes[k], &sizes[k], 0);
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
