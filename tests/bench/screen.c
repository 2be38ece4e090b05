/*
 * The screen in memory, without a server: how fast it processes output, makes snapshots, restores them, reflows and
 * renders, and how much memory it needs. CPU time, because other programs are running; ratios are taken within a round.
 *
 * Baselines: scan alone, which every byte passes too, and libvterm, if it was found. It crashes on ordinary input, so
 * it runs in a child and gets whole lines.
 */
#include "process.h"
#include "stats.h"
#include "streams.h"
#include "target.h"

#include "ring/scan.h"
#include "ring/screen/view/render.h"
#include "ring/screen/screen.h"
#include "ring/screen/view/snapshot.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_VTERM
#include <vterm.h>
#endif

#define BYTES ((size_t)16 << 20)
#define VTERM_SCREEN_BYTES ((size_t)1 << 20) /* it would take seconds for all of them */
#define VTERM_WRITE ((size_t)16 << 10)       /* it copies input to its stack four times */
#define SLICE ((size_t)64 << 10)             /* as live.c feeds */
#define SCROLLBACK 10000u
#define ROUNDS_MAX 101

struct size {
	unsigned rows, cols;
};

static const struct size small = {24, 80}, large = {50, 200};

/* A stream on a screen. */
struct load {
	enum stream_kind kind;
	const struct size *size;
};

static const struct load loads[] = {
	{STREAM_TEXT, &small},
	{STREAM_TEXT, &large},
	{STREAM_SEQ, &small},
	{STREAM_SEQ, &large},
	{STREAM_COMPILER, &small},
	{STREAM_COMPILER, &large},
	{STREAM_REDRAW_80X24, &small},
	{STREAM_REDRAW_200X50, &large},
};

#define LOADS (sizeof loads / sizeof *loads)

/* Bytes of output, made on first use. */
static struct {
	uint8_t *bytes;
	size_t length;
} streams[STREAM_KINDS];

static const uint8_t *stream(enum stream_kind kind, size_t *ret_length)
{
	if (!streams[kind].bytes) {
		streams[kind].bytes = malloc(BYTES);
		if (!streams[kind].bytes)
			die("memory");
		streams[kind].length = stream_make(kind, streams[kind].bytes, BYTES);
	}
	*ret_length = streams[kind].length;
	return streams[kind].bytes;
}

/* Speed */

static void ignore_query(void *user, const struct scan_query *query)
{
	(void)query;
	++*(unsigned *)user;
}

static double scan_speed(enum stream_kind kind)
{
	struct scan scan;
	size_t length;
	unsigned queries = 0;
	const uint8_t *bytes = stream(kind, &length);
	scan_init(&scan, 0);
	double start = stats_cpu();
	for (size_t at = 0; at < length; at += SLICE)
		scan_feed(&scan, bytes + at, length - at < SLICE ? length - at : SLICE,
			ignore_query, &queries);
	return (double)length / 1e6 / (stats_cpu() - start);
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

static void feed(struct screen *s, const uint8_t *bytes, size_t length)
{
	for (size_t at = 0; at < length;)
		at += screen_feed(
			s, bytes + at, length - at < SLICE ? length - at : SLICE, SIZE_MAX);
}

static double screen_speed(const struct load *l)
{
	size_t length;
	const uint8_t *bytes = stream(l->kind, &length);
	struct screen *s = make_screen(l->size);
	double start = stats_cpu();
	feed(s, bytes, length);
	double seconds = stats_cpu() - start;
	screen_destroy(s);
	return (double)length / 1e6 / seconds;
}

#ifdef HAVE_VTERM
/* The bytes of one write: whole lines or, without lines, up to a sequence. */
static size_t vterm_piece(const uint8_t *bytes, size_t left)
{
	if (left <= VTERM_WRITE)
		return left;
	const uint8_t *end = memrchr(bytes, '\n', VTERM_WRITE);
	if (end)
		return (size_t)(end - bytes) + 1;
	end = memrchr(bytes + 1, '\033', VTERM_WRITE - 1);
	return end ? (size_t)(end - bytes) : VTERM_WRITE;
}

static int on_glyph(VTermGlyphInfo *info, VTermPos at, void *user)
{
	(void)info, (void)at, (void)user;
	return 1;
}

static int on_cursor(VTermPos to, VTermPos from, int visible, void *user)
{
	(void)to, (void)from, (void)visible, (void)user;
	return 1;
}

static int on_scroll(VTermRect rect, int down, int right, void *user)
{
	(void)rect, (void)down, (void)right, (void)user;
	return 1;
}

static int on_erase(VTermRect rect, int selective, void *user)
{
	(void)rect, (void)selective, (void)user;
	return 1;
}

static double vterm_speed(const struct load *l, bool whole_screen)
{
	static const VTermStateCallbacks callbacks = {.putglyph = on_glyph,
		.movecursor = on_cursor,
		.scrollrect = on_scroll,
		.erase = on_erase};
	size_t length;
	const uint8_t *bytes = stream(l->kind, &length);
	VTerm *vt = vterm_new((int)l->size->rows, (int)l->size->cols);
	vterm_set_utf8(vt, 1);
	if (whole_screen) {
		VTermScreen *screen = vterm_obtain_screen(vt);
		vterm_screen_enable_altscreen(screen, 1);
		vterm_screen_set_damage_merge(screen, VTERM_DAMAGE_SCROLL);
		vterm_screen_reset(screen, 1);
		length = length < VTERM_SCREEN_BYTES ? length : VTERM_SCREEN_BYTES;
	} else {
		VTermState *state = vterm_obtain_state(vt);
		vterm_state_set_callbacks(state, &callbacks, NULL);
		vterm_state_reset(state, 1);
	}
	double start = stats_cpu();
	for (size_t at = 0; at < length;) {
		size_t piece = vterm_piece(bytes + at, length - at);
		vterm_input_write(vt, (const char *)bytes + at, piece);
		at += piece;
	}
	double seconds = stats_cpu() - start;
	vterm_free(vt);
	return (double)length / 1e6 / seconds;
}

/* Measured in a child. Returns NaN if it crashes. */
static double guarded_vterm_speed(const struct load *l, bool whole_screen)
{
	int fds[2], status;
	double speed;
	size_t length;
	stream(l->kind, &length); /* once for all children */
	if (pipe(fds) < 0)
		die("pipe");
	pid_t pid = process_fork();
	if (pid == 0) {
		speed = vterm_speed(l, whole_screen);
		_exit(write(fds[1], &speed, sizeof speed) != sizeof speed);
	}
	close(fds[1]);
	bool whole = read(fds[0], &speed, sizeof speed) == sizeof speed;
	close(fds[0]);
	return waitpid(pid, &status, 0) == pid && status == 0 && whole ? speed : (double)NAN;
}
#else
static double guarded_vterm_speed(const struct load *l, bool whole_screen)
{
	(void)l;
	(void)whole_screen;
	return NAN;
}
#endif

/* MB/s in all rounds. */
struct speeds {
	double scan[ROUNDS_MAX], screen[ROUNDS_MAX], state[ROUNDS_MAX], vterm[ROUNDS_MAX];
};

/* NaN: not measured. */
static void print_value(double value, int decimals)
{
#ifdef HAVE_VTERM
	const char *missing = "crashed";
#else
	const char *missing = "-";
#endif
	if (isnan(value))
		printf(" %8s", missing);
	else
		printf(" %8.*f", decimals, value);
}

static void print_load(
	const struct load *l, struct speeds *s, unsigned rounds, struct stats_line *line)
{
	char name[64];
	snprintf(name, sizeof name, "%s_%ux%u", stream_name(l->kind), l->size->rows, l->size->cols);
	if (l->kind >= STREAM_REDRAW_80X24)
		snprintf(name, sizeof name, "redraw_%ux%u", l->size->rows, l->size->cols);
	double to_scan = stats_ratio(s->screen, s->scan, rounds),
	       to_state = stats_ratio(s->screen, s->state, rounds),
	       to_vterm = stats_ratio(s->screen, s->vterm, rounds);
	double median = stats_median(s->screen, rounds), noise = stats_noise(s->screen, rounds);
	double best = stats_quantile(s->screen, rounds, 1);
	printf("%-16s %7.0f %7.0f ±%2.0f%% %8.0f ", name, best, median, 100 * noise,
		stats_median(s->scan, rounds));
	print_value(isnan(to_state) ? to_state : stats_median(s->state, rounds), 0);
	print_value(isnan(to_vterm) ? to_vterm : stats_median(s->vterm, rounds), 1);
	printf(" %7.2f", to_scan);
	print_value(to_state, 2);
	print_value(to_vterm, 1);
	printf("\n");
	stats_add(line, best, "%s_best_mb_s", name);
	stats_add(line, median, "%s_mb_s", name);
	stats_add(line, to_scan, "%s_to_scan", name);
	if (!isnan(to_state))
		stats_add(line, to_state, "%s_to_vterm_state", name);
	if (!isnan(to_vterm))
		stats_add(line, to_vterm, "%s_to_vterm_screen", name);
}

static void measure_speed(unsigned rounds, struct stats_line *line)
{
	static struct speeds speeds[LOADS];
	for (unsigned n = 0; n < rounds; n++)
		for (size_t i = 0; i < LOADS; i++) {
			const struct load *l = &loads[i];
			speeds[i].scan[n] = scan_speed(l->kind);
			speeds[i].screen[n] = screen_speed(l);
			speeds[i].state[n] = guarded_vterm_speed(l, false);
			speeds[i].vterm[n] = guarded_vterm_speed(l, true);
		}
	printf("screen: MB of output per second of CPU time, scrollback of %u lines, %zu MiB each;\n"
	       "scan alone; libvterm's state layer without callbacks that do anything, its VTermScreen; ratios to them\n"
	       "output              best  median           scan   vtstate  vtscreen  /scan "
	       " /vtstate/vtscreen\n",
		SCROLLBACK, BYTES >> 20);
	for (size_t i = 0; i < LOADS; i++)
		print_load(&loads[i], &speeds[i], rounds, line);
}

/* The operations on a screen with a full scrollback. */

enum task {
	TASK_SNAPSHOT,
	TASK_SNAPSHOT_SCREEN, /* without scrollback */
	TASK_CHECKPOINT,
	TASK_RESTORE,
	TASK_WIDEN,
	TASK_NARROW,
	TASK_ROWS,
	TASK_TEXT,
	TASK_HTML,
	TASKS
};

static const char *const task_names[TASKS] = {"snapshot", "snapshot0", "checkpoint", "restore",
	"widen", "narrow", "rows", "text", "html"};

struct scene {
	struct screen *screen;
	const struct size *size;
	size_t bytes[TASKS]; /* written or read */
};

static void make_snapshot(struct scene *scene, enum task task)
{
	struct snapshot snapshot;
	unsigned lines = task == TASK_SNAPSHOT_SCREEN ? 0 : SCROLLBACK;
	int rc = task == TASK_CHECKPOINT ? screen_checkpoint(scene->screen, lines, &snapshot)
					 : screen_snapshot(scene->screen, lines, &snapshot);
	if (rc < 0)
		die("snapshot");
	scene->bytes[task] = snapshot.length;
	free(snapshot.bytes);
}

static void render(struct scene *scene, enum task task)
{
	struct rendered rendered;
	int rc = render_lines(scene->screen, task == TASK_TEXT ? RENDER_TEXT : RENDER_HTML,
		&(struct render_options){.to = UINT64_MAX, .max = SIZE_MAX}, &rendered);
	if (rc < 0)
		die("render");
	scene->bytes[task] = rendered.length;
	free(rendered.bytes);
}

static double restore(struct scene *scene)
{
	struct snapshot snapshot;
	if (screen_checkpoint(scene->screen, SCROLLBACK, &snapshot) < 0)
		die("snapshot");
	struct screen *fresh = make_screen(scene->size);
	double start = stats_cpu();
	screen_restore(fresh, snapshot.bytes, snapshot.length);
	double seconds = stats_cpu() - start;
	scene->bytes[TASK_RESTORE] = snapshot.length;
	screen_destroy(fresh);
	free(snapshot.bytes);
	return seconds;
}

/* Resize and resize back; only the first is measured. */
static double resize(struct scene *scene, int rows, int cols)
{
	const struct size *size = scene->size;
	unsigned to_rows = (unsigned)((int)size->rows + rows),
		 to_cols = (unsigned)((int)size->cols + cols);
	double start = stats_cpu();
	if (screen_resize(scene->screen, to_rows, to_cols) < 0)
		die("resize");
	double seconds = stats_cpu() - start;
	if (screen_resize(scene->screen, size->rows, size->cols) < 0)
		die("resize");
	return seconds;
}

static double perform(struct scene *scene, enum task task)
{
	double start = stats_cpu();
	switch (task) {
	case TASK_RESTORE:
		return restore(scene);
	case TASK_WIDEN:
		return resize(scene, 0, 20);
	case TASK_NARROW:
		return resize(scene, 0, -20);
	case TASK_ROWS:
		return resize(scene, 10, 0);
	case TASK_TEXT:
	case TASK_HTML:
		render(scene, task);
		break;
	default:
		make_snapshot(scene, task);
	}
	return stats_cpu() - start;
}

static size_t heap(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

static const struct load scenes[] = {
	{STREAM_TEXT, &small},
	{STREAM_TEXT, &large},
	{STREAM_SEQ, &small},
	{STREAM_COMPILER, &small},
	{STREAM_REDRAW_80X24, &small},
};

static void measure_scene(const struct load *l, unsigned rounds, struct stats_line *line)
{
	static double ms[TASKS][ROUNDS_MAX];
	char name[64];
	size_t length;
	const uint8_t *bytes = stream(l->kind, &length);
	struct scene scene = {.size = l->size};
	snprintf(name, sizeof name, "%s_%ux%u", stream_name(l->kind), l->size->rows, l->size->cols);
	if (l->kind == STREAM_REDRAW_80X24)
		snprintf(name, sizeof name, "alternate_24x80");
	size_t before = heap();
	scene.screen = make_screen(l->size);
	size_t idle = heap() - before;
	/* A full-screen program, started from a shell with history. */
	if (l->kind == STREAM_REDRAW_80X24) {
		size_t text_length;
		const uint8_t *text = stream(STREAM_TEXT, &text_length);
		feed(scene.screen, text, text_length / 8);
		length /= 8;
	}
	feed(scene.screen, bytes, length);
	size_t full = heap() - before;
	printf("%-16s %6u %8.1f %8.0f %8.0f", name, screen_scrollback(scene.screen),
		(double)idle / 1024, (double)full / 1024,
		(double)screen_memory(scene.screen) / 1024);
	for (unsigned n = 0; n < rounds; n++)
		for (int task = 0; task < TASKS; task++)
			ms[task][n] = 1000 * perform(&scene, (enum task)task);
	for (int task = 0; task < TASKS; task++) {
		double median = stats_median(ms[task], rounds);
		printf(" %7.2f", median);
		stats_add(line, median, "%s_%s_ms", name, task_names[task]);
	}
	printf(" %7.0f %7.0f %7.0f\n", (double)scene.bytes[TASK_SNAPSHOT] / 1024,
		(double)scene.bytes[TASK_CHECKPOINT] / 1024, (double)scene.bytes[TASK_TEXT] / 1024);
	stats_add(line, (double)scene.bytes[TASK_SNAPSHOT], "%s_snapshot_bytes", name);
	stats_add(line, (double)idle, "%s_idle_bytes", name);
	stats_add(line, (double)full, "%s_full_bytes", name);
	screen_destroy(scene.screen);
	malloc_trim(0);
}

int main(int argc, char **argv)
{
	static struct stats_line line;
	unsigned rounds = 5;
	target_rounds(argc, argv, &rounds, ROUNDS_MAX);
	measure_speed(rounds, &line);
	printf("\nscreen: lines of scrollback; KiB of heap of an idle screen and with them, and as the screen counts;\n"
	       "milliseconds of CPU time for a snapshot with all lines and with none, a checkpoint, restoring that,\n"
	       "20 columns more, 20 fewer, 10 rows more, all as text, all as HTML; KiB of snapshot, checkpoint, text\n"
	       "output            lines     idle     full  counted    snap   snap0   check restore   widen  narrow    rows    text    html    snap   check    text\n");
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		measure_scene(&scenes[i], rounds, &line);
	stats_print(&line, "screen");
	return 0;
}
