/* Rows: output at full speed, without losses, and its cost. */
#include "load.h"
#include "process.h"
#include "stats.h"
#include "table/rows.h"
#include "table/scene.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MANY 10
#define SILENCE_MS 10000
#define GIB 1073741824.0
#define SLOW_READ 1000u /* bytes per SLOW_US: 100 KB/s */
#define SLOW_US 10000

/* Long enough for slow clients to fall behind. */
static struct load one_load = {.name = "table", .stream = STREAM_TEXT, .times = 4, .modes = "sane"};
/* For each of ten sessions. */
static struct load small_load = {
	.name = "small", .stream = STREAM_TEXT, .times = 1, .modes = "sane"};

/* The traffic of some terminals. */
struct flow {
	double seconds; /* from the start to the last byte */
	double cpu;     /* CPU seconds of the server and the holders, or of the relay */
	uint64_t bytes; /* received */
	unsigned exact; /* readers that got each byte once */
};

static int watch(struct path *paths, unsigned count)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; i < count; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.ptr = &paths[i]};
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, paths[i].fd, &e) < 0)
			die("epoll_ctl");
	}
	return epoll;
}

/* Read everything until all programs have exited. Returns the time of the last byte. */
static uint64_t read_all(struct path *paths, unsigned count)
{
	int epoll = watch(paths, count);
	uint64_t last = stats_now_ns();
	for (unsigned left = count; left > 0;) {
		struct epoll_event events[MANY];
		int n = epoll_wait(epoll, events, MANY, SILENCE_MS);
		errno = 0;
		if (n <= 0)
			die("bytes are missing");
		for (int i = 0; i < n; i++) {
			struct path *p = events[i].data.ptr;
			uint64_t before = p->bytes;
			path_read(p);
			if (p->bytes > before)
				last = stats_now_ns();
			if (p->ended) {
				left--;
				epoll_ctl(epoll, EPOLL_CTL_DEL, p->fd, NULL);
			}
		}
	}
	close(epoll);
	return last;
}

/* Whether a client got as many bytes as the program wrote, without snapshots instead. */
static bool is_exact(const struct path *p, const struct load *l)
{
	const struct client *c = p->client;
	bool all = p->bytes == l->bytes;
	if (!c || c->plain || (all && c->skips == 0 && c->offset == c->exit_offset))
		return all;
	fprintf(stderr,
		"a client has %" PRIu64 " of %" PRIu64 " bytes, offset %" PRIu64 " of %" PRIu64
		", and %u snapshots instead\n",
		p->bytes, l->bytes, c->offset, c->exit_offset, c->skips);
	return false;
}

/* Start the programs of the first paths; the others are further readers. Closes the paths. */
static struct flow run(const struct scene *s, enum way way, const struct load *l,
	struct path *paths, unsigned count, unsigned programs)
{
	struct flow f = {0};
	for (unsigned i = 0; i < count; i++)
		path_settle(&paths[i]);
	f.cpu = -scene_cpu(s, way, paths, count);
	uint64_t start = stats_now_ns();
	for (unsigned i = 0; i < programs; i++)
		path_put(&paths[i], "\n");
	f.seconds = (double)(read_all(paths, count) - start) / 1e9;
	f.cpu += scene_cpu(s, way, paths, count);
	for (unsigned i = 0; i < count; i++) {
		f.bytes += paths[i].bytes;
		f.exact += is_exact(&paths[i], l);
	}
	for (unsigned i = count; i-- > 0;)
		path_close(&paths[i]);
	return f;
}

/* One terminal with one reader. The bare terminal determines the number of bytes. */
static struct flow run_one(const struct scene *s, enum way way, struct load *l)
{
	if (!l->script[0])
		load_make(&s->target, l);
	struct path p = scene_path(s, way, "flood", l->script);
	struct flow f = run(s, way, l, &p, 1, 1);
	if (way == WAY_BARE && l->bytes == 0)
		l->bytes = f.bytes;
	if (way != WAY_RINGSIDE && f.bytes != l->bytes)
		die("the bare terminal or the relay lost bytes");
	return f;
}

static struct figure *add_speed(
	struct scene *s, const char *row, const char *name, enum way way, const struct flow *f)
{
	struct figure *g = figures_at(&s->figures, row, name, "MB/s", BETTER_MORE);
	figure_add(g, way, (double)f->bytes / f->seconds / 1e6);
	figure_add_cpu(g, way, f->cpu / ((double)f->bytes / GIB));
	return g;
}

static void measure_flood(struct scene *s, const char *row, const char *name, struct load *l)
{
	for (int w = 0; w < WAYS; w++) {
		struct flow f = run_one(s, (enum way)w, l);
		struct figure *g = add_speed(s, row, name, (enum way)w, &f);
		if (w == WAY_RINGSIDE)
			figure_add_exact(g, f.exact, 1);
	}
}

void row_flood(struct scene *s)
{
	measure_flood(s, "flood", "flood, one client", &one_load);
}

void row_kinds(struct scene *s)
{
	static struct load loads[] = {
		{.name = "seq", .stream = STREAM_SEQ, .times = 1, .modes = "sane"},
		{.name = "compiler", .stream = STREAM_COMPILER, .times = 1, .modes = "sane"},
		{.name = "redraw", .stream = STREAM_REDRAW_80X24, .times = 1, .modes = "sane"},
		{.name = "raw", .stream = STREAM_TEXT, .times = 1, .modes = "raw"},
	};
	static const char *const names[] = {"flood of numbers", "flood of a compiler's log",
		"flood of full screens", "flood in raw mode"};
	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
		measure_flood(s, "kinds", names[i], &loads[i]);
}

/* Start a process that reads slowly from a client. */
static pid_t read_slowly(const struct path *p)
{
	char piece[SLOW_READ];
	client_buffer_little(p->client);
	pid_t pid = process_fork();
	if (pid > 0)
		return pid;
	while (read(p->fd, piece, sizeof piece) > 0)
		usleep(SLOW_US);
	_exit(0);
}

void row_slow(struct scene *s)
{
	static const char name[] = "flood beside a slow client";
	struct flow bare = run_one(s, WAY_BARE, &one_load);
	struct path fast = scene_path(s, WAY_RINGSIDE, "flood", one_load.script),
		    slow = path_viewer(&s->target, "flood", "");
	pid_t reader = read_slowly(&slow);
	struct flow f = run(s, WAY_RINGSIDE, &one_load, &fast, 1, 1);
	add_speed(s, "slow", name, WAY_BARE, &bare);
	figure_add_exact(add_speed(s, "slow", name, WAY_RINGSIDE, &f), f.exact, 1);
	process_kill(reader);
	path_close(&slow);
}

/* Until the program has exited and a new client has its screen. */
static struct flow run_unwatched(const struct scene *s, struct load *l)
{
	struct flow f = {.bytes = l->bytes};
	char answer[8192];
	struct path p = path_session(&s->target, "flood", l->script);
	path_settle(&p);
	client_close(p.client);
	f.cpu = -scene_cpu(s, WAY_RINGSIDE, &p, 1);
	uint64_t start = stats_now_ns();
	if (target_http(&s->target, "POST /api/session/flood/input", "{\"data\":\"\\n\"}", answer,
		    sizeof answer) != 200 ||
		target_http(&s->target, "POST /api/session/flood/wait",
			"{\"timeoutMs\":60000,\"until\":[{\"type\":\"exit\"}]}", answer,
			sizeof answer) != 200 ||
		!strstr(answer, "\"exit\""))
		die(answer);
	p.client = client_open(s->target.port, "flood", "&scrollback=0", NULL);
	client_wait(p.client);
	f.seconds = (double)(stats_now_ns() - start) / 1e9;
	f.cpu += scene_cpu(s, WAY_RINGSIDE, &p, 1);
	path_close(&p);
	return f;
}

void row_unwatched(struct scene *s)
{
	struct flow bare = run_one(s, WAY_BARE, &one_load), f = run_unwatched(s, &one_load);
	add_speed(s, "unwatched", "flood, no client", WAY_BARE, &bare);
	add_speed(s, "unwatched", "flood, no client", WAY_RINGSIDE, &f);
}

void row_clients(struct scene *s)
{
	static const char name[] = "flood, ten clients of one session, sum";
	struct path paths[MANY];
	struct flow bare = run_one(s, WAY_BARE, &one_load);
	paths[0] = scene_path(s, WAY_RINGSIDE, "flood", one_load.script);
	for (unsigned i = 1; i < MANY; i++)
		paths[i] = path_viewer(&s->target, "flood", "");
	struct flow f = run(s, WAY_RINGSIDE, &one_load, paths, MANY, 1);
	add_speed(s, "clients", name, WAY_BARE, &bare);
	figure_add_exact(add_speed(s, "clients", name, WAY_RINGSIDE, &f), f.exact, MANY);
}

void row_sessions(struct scene *s)
{
	struct path paths[MANY];
	char id[16];
	run_one(s, WAY_BARE, &small_load); /* how much it is */
	for (int w = 0; w < WAYS; w++) {
		for (unsigned i = 0; i < MANY; i++) {
			snprintf(id, sizeof id, "flood%u", i);
			paths[i] = scene_path(s, (enum way)w, id, small_load.script);
		}
		struct flow f = run(s, (enum way)w, &small_load, paths, MANY, MANY);
		struct figure *g = add_speed(
			s, "sessions", "flood, ten sessions, sum", (enum way)w, &f);
		if (w == WAY_RINGSIDE)
			figure_add_exact(g, f.exact, MANY);
	}
}
