/*
 * Throughput: a program that floods its terminal, read by a tight loop on a bare PTY, by one client, by ten clients of
 * a session, and only by the session's screen. Ratios are taken within a round. Clients that keep up are measured, so
 * they request no snapshots however far behind they are. At the end, a slow client gets snapshots beside a fast one
 * that it must not slow down.
 */
#include "client.h"
#include "load.h"
#include "process.h"
#include "stats.h"
#include "streams.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CLIENTS 10
#define ROUNDS_MAX 101
#define RING_BYTES (32ul << 20) /* so large that no client falls too far behind */
#define ALL_BYTES "&lag=1000000000000"

#define SLOW_TIMES 24   /* a longer flood, because there are few snapshots per second */
#define SLOW_READ 1000u /* bytes per SLOW_MS: 100 KB/s */
#define SLOW_MS 10

/* The readers of the output. */
enum way { WAY_BARE, WAY_ONE, WAY_TEN, WAY_NONE, WAYS };

/* One load in ringside and on the bare PTY. */
struct result {
	double seconds[WAYS][ROUNDS_MAX];
	double server[WAYS][ROUNDS_MAX], holder[WAYS][ROUNDS_MAX]; /* CPU seconds */
	double reader[ROUNDS_MAX];      /* CPU seconds of the bare reader */
	double frame[WAYS][ROUNDS_MAX]; /* bytes per frame */
	unsigned skips;
};

/* A slow client's snapshots, and its effect on a fast client. */
struct slow {
	double alone[ROUNDS_MAX], beside[ROUNDS_MAX];    /* seconds of the fast client */
	double snapshots[ROUNDS_MAX], bytes[ROUNDS_MAX]; /* per second; bytes of each */
};

static uint8_t buffer[CLIENT_READ];

static void go_bare(const struct load *l, int *ret_master, pid_t *ret_pid)
{
	*ret_pid = process_on_pty(l->script, ret_master);
	process_expect(*ret_master, "READY");
}

static double run_bare(struct load *l, double *ret_cpu)
{
	int master;
	pid_t pid;
	uint64_t bytes = 0;
	ssize_t n;
	go_bare(l, &master, &pid);
	double cpu = process_cpu(getpid());
	uint64_t start = stats_now_ns(), end = start;
	if (write(master, "\n", 1) != 1)
		die("write");
	while ((n = read(master, buffer, sizeof buffer)) > 0) {
		bytes += (uint64_t)n;
		end = stats_now_ns();
	}
	*ret_cpu = process_cpu(getpid()) - cpu;
	close(master);
	process_kill(pid);
	errno = 0;
	if (l->bytes == 0)
		l->bytes = bytes;
	if (bytes != l->bytes)
		die("the bare PTY lost bytes");
	return (double)(end - start) / 1e9;
}

/* Whether the client has received everything. */
static bool is_done(const struct client *c, uint64_t end)
{
	return c->offset >= end || c->exited;
}

/* A client with its own pace. */
struct slow_reader {
	struct client *client;
	uint64_t next_ns;
};

static void read_slowly(struct slow_reader *r)
{
	if (!r || stats_now_ns() < r->next_ns)
		return;
	client_read(r->client, buffer, SLOW_READ);
	errno = 0;
	r->next_ns += SLOW_MS * 1000000ull;
}

/* Read until every client is at offset `end`. Returns the time when the last one was. */
static uint64_t read_all(
	struct client **clients, unsigned count, uint64_t end, struct slow_reader *slow)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	unsigned left = count;
	uint64_t last_read = stats_now_ns();
	for (unsigned i = 0; i < count; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.ptr = clients[i]};
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i]->fd, &e) < 0)
			die("epoll_ctl");
	}
	while (left > 0) {
		struct epoll_event events[CLIENTS];
		int n = epoll_wait(epoll, events, CLIENTS, slow ? SLOW_MS : 1000);
		errno = 0;
		if (n > 0)
			last_read = stats_now_ns();
		else if (n < 0 || stats_now_ns() - last_read > 10000000000)
			die("bytes are missing");
		for (int i = 0; i < n; i++) {
			struct client *c = events[i].data.ptr;
			bool before = is_done(c, end);
			client_read(c, buffer, sizeof buffer);
			left -= !before && is_done(c, end);
		}
		read_slowly(slow);
	}
	close(epoll);
	return stats_now_ns();
}

/* After the end of the program: no byte was lost or repeated. */
static void check(const struct load *l, struct client *c, struct result *r)
{
	while (!c->exited)
		client_read(c, buffer, sizeof buffer);
	errno = 0;
	r->skips += c->skips;
	if (c->skips == 0 && c->bytes != l->bytes)
		die("a client received a wrong number of bytes");
}

/* Read pending messages, such as presence, and count bytes from here on. */
static void settle(struct client **clients, unsigned count)
{
	usleep(20000);
	for (unsigned i = 0; i < count; i++) {
		fcntl(clients[i]->fd, F_SETFL, O_NONBLOCK);
		while (client_read(clients[i], buffer, sizeof buffer) > 0)
			;
		clients[i]->bytes = clients[i]->frames = 0;
		clients[i]->snapshots = clients[i]->skips = 0;
		clients[i]->snapshot_bytes = 0;
	}
	errno = 0;
}

static double run_clients(const struct target *t, const struct load *l, enum way way,
	struct result *r, unsigned round)
{
	struct client *clients[CLIENTS];
	unsigned count = way == WAY_TEN ? CLIENTS : 1;
	pid_t holder = process_parent(target_session(t, "flood", l->script));
	for (unsigned i = 0; i < count; i++) {
		clients[i] = client_open(t->port, "flood", ALL_BYTES, "READY");
		client_wait(clients[i]);
	}
	settle(clients, count);
	double server_before = process_cpu(t->pid), holder_before = process_cpu(holder);
	uint64_t start = stats_now_ns();
	client_type(clients[0], "\n", 1);
	uint64_t end = read_all(clients, count, clients[0]->offset + l->bytes, NULL);
	r->server[way][round] = process_cpu(t->pid) - server_before;
	r->holder[way][round] = process_cpu(holder) - holder_before;
	r->frame[way][round] = (double)clients[0]->bytes / (double)clients[0]->frames;
	for (unsigned i = 0; i < count; i++) {
		fcntl(clients[i]->fd, F_SETFL, 0);
		check(l, clients[i], r);
		client_close(clients[i]);
	}
	target_delete(t, "flood");
	return (double)(end - start) / 1e9;
}

/* No client watches: measure until the program has ended and a new client has the screen. */
static double run_unwatched(
	const struct target *t, const struct load *l, struct result *r, unsigned round)
{
	char answer[4096];
	pid_t holder = process_parent(target_session(t, "flood", l->script));
	struct client *c = client_open(t->port, "flood", "", "READY");
	client_wait(c);
	client_close(c);
	usleep(20000);
	double server_before = process_cpu(t->pid), holder_before = process_cpu(holder);
	uint64_t start = stats_now_ns();
	if (target_http(t, "POST /api/session/flood/input", "{\"data\":\"\\n\"}", answer,
		    sizeof answer) != 200)
		die(answer);
	do {
		usleep(5000);
		r->holder[WAY_NONE][round] = process_cpu(holder) - holder_before;
		target_http(t, "GET /api/session/flood", NULL, answer, sizeof answer);
	} while (!strstr(answer, "\"exited\""));
	c = client_open(t->port, "flood", "&scrollback=0", NULL);
	client_wait(c);
	double seconds = (double)(stats_now_ns() - start) / 1e9;
	r->server[WAY_NONE][round] = process_cpu(t->pid) - server_before;
	client_close(c);
	target_delete(t, "flood");
	return seconds;
}

/* Measure a client that reads as fast as it can, with or without a slow one beside it. */
static double run_beside(
	const struct target *t, const struct load *l, bool beside, struct slow *r, unsigned round)
{
	struct client *clients[2];
	unsigned count = beside ? 2 : 1;
	target_session(t, "flood", l->script);
	for (unsigned i = 0; i < count; i++) {
		clients[i] = client_open(t->port, "flood", i == 0 ? ALL_BYTES : "", "READY");
		if (i > 0)
			client_buffer_little(clients[i]);
		client_wait(clients[i]);
	}
	settle(clients, count);
	struct slow_reader slow = {.client = clients[count - 1], .next_ns = stats_now_ns()};
	uint64_t start = stats_now_ns();
	client_type(clients[0], "\n", 1);
	uint64_t end = read_all(clients, 1, clients[0]->offset + l->bytes, beside ? &slow : NULL);
	double seconds = (double)(end - start) / 1e9;
	if (beside) {
		r->snapshots[round] = slow.client->snapshots / seconds;
		r->bytes[round] = slow.client->snapshots == 0
			? 0
			: (double)slow.client->snapshot_bytes / slow.client->snapshots;
	}
	for (unsigned i = 0; i < count; i++)
		client_close(clients[i]);
	target_delete(t, "flood");
	return seconds;
}

static void print_load(struct load *l, struct result *r, unsigned n, struct stats_line *line)
{
	static const char *const names[WAYS] = {"bare", "one", "ten", "none"};
	double mib = (double)l->bytes / 1048576, bare = mib / stats_median(r->seconds[WAY_BARE], n);
	double ratio[WAYS] = {0}, best[WAYS] = {0}, server[WAYS] = {0}, holder[WAYS] = {0};
	for (int way = WAY_ONE; way < WAYS; way++) {
		double ratios[ROUNDS_MAX];
		for (unsigned i = 0; i < n; i++)
			ratios[i] = r->seconds[WAY_BARE][i] / r->seconds[way][i];
		ratio[way] = stats_median(ratios, n);
		server[way] = 1000 * stats_median(r->server[way], n) / mib;
		holder[way] = 1000 * stats_median(r->holder[way], n) / mib;
		stats_add(line, ratio[way], "%s_%s", l->name, names[way]);
		stats_add(line, server[way], "%s_%s_server_ms_mib", l->name, names[way]);
		stats_add(line, holder[way], "%s_%s_holder_ms_mib", l->name, names[way]);
	}
	double noise = stats_noise(r->seconds[WAY_BARE], n);
	for (int way = WAY_ONE; way < WAYS; way++)
		best[way] = stats_quantile(r->seconds[WAY_BARE], n, 0) /
			stats_quantile(r->seconds[way], n, 0);
	double reader = 1000 * stats_median(r->reader, n) / mib;
	printf("%-9s %5.1f %6.1f ±%2.0f%%  %5.2f %5.2f  %5.2f %5.2f  %5.2f %5.2f  %5.2f  %5.2f %5.2f  %5.2f %5.2f  %5.2f %5.2f %6.0f %6.0f %5u\n",
		l->name, mib, bare, 100 * noise, ratio[WAY_ONE], best[WAY_ONE], ratio[WAY_TEN],
		best[WAY_TEN], ratio[WAY_NONE], best[WAY_NONE], reader, server[WAY_ONE],
		holder[WAY_ONE], server[WAY_TEN], holder[WAY_TEN], server[WAY_NONE],
		holder[WAY_NONE], stats_median(r->frame[WAY_ONE], n),
		stats_median(r->frame[WAY_TEN], n), r->skips);
	stats_add(line, bare, "%s_bare_mib_s", l->name);
	stats_add(line, reader, "%s_bare_reader_ms_mib", l->name);
	stats_add(line, r->skips, "%s_skips", l->name);
	fflush(stdout);
}

static void run_load(
	const struct target *t, struct load *l, unsigned rounds, struct stats_line *line)
{
	static struct result r;
	r = (struct result){0};
	load_make(t, l);
	for (unsigned n = 0; n < rounds; n++) {
		r.seconds[WAY_BARE][n] = run_bare(l, &r.reader[n]);
		r.seconds[WAY_ONE][n] = run_clients(t, l, WAY_ONE, &r, n);
		r.seconds[WAY_TEN][n] = run_clients(t, l, WAY_TEN, &r, n);
		r.seconds[WAY_NONE][n] = run_unwatched(t, l, &r, n);
	}
	print_load(l, &r, rounds, line);
}

static void run_slow(
	const struct target *t, struct load *l, unsigned rounds, struct stats_line *line)
{
	static struct slow r;
	double ratio[ROUNDS_MAX], ignored;
	load_make(t, l);
	run_bare(l, &ignored);
	for (unsigned n = 0; n < rounds; n++) {
		r.alone[n] = run_beside(t, l, false, &r, n);
		r.beside[n] = run_beside(t, l, true, &r, n);
		ratio[n] = r.alone[n] / r.beside[n];
	}
	double mib = (double)l->bytes / 1048576, kept = stats_median(ratio, rounds);
	double snapshots = stats_median(r.snapshots, rounds), bytes = stats_median(r.bytes, rounds);
	double seconds = stats_median(r.beside, rounds);
	printf("slow: %.0f MiB of %s in %.1f s beside a client that reads %u KB/s: %.2f of its speed without the slow client;\n"
	       "      the slow client got %.1f snapshots a second of %.1f KiB\n",
		mib, stream_name(l->stream), seconds, SLOW_READ / SLOW_MS, kept, snapshots,
		bytes / 1024);
	stats_add(line, kept, "%s_kept", l->name);
	stats_add(line, snapshots, "%s_snapshots_s", l->name);
	stats_add(line, bytes, "%s_snapshot_bytes", l->name);
}

int main(int argc, char **argv)
{
	static struct load loads[] = {
		{.name = "text", .stream = STREAM_TEXT, .times = 1, .modes = "sane"},
		{.name = "seq", .stream = STREAM_SEQ, .times = 1, .modes = "sane"},
		{.name = "compiler", .stream = STREAM_COMPILER, .times = 1, .modes = "sane"},
		{.name = "redraw", .stream = STREAM_REDRAW_80X24, .times = 1, .modes = "sane"},
		{.name = "raw", .stream = STREAM_TEXT, .times = 1, .modes = "raw"},
	};
	struct load slow = {
		.name = "slow", .stream = STREAM_TEXT, .times = SLOW_TIMES, .modes = "sane"};
	static struct stats_line line;
	static struct target t;
	unsigned rounds = 5;
	const char *program = target_arguments(argc, argv, &rounds);
	const char *ring = getenv("BENCH_RING_SIZE"), *only = getenv("BENCH_LOAD");
	rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
	target_open(&t, program, ring ? strtoul(ring, NULL, 10) : RING_BYTES);
	printf("flood: MiB, bare MiB/s; of it to one client, to each of ten, and with no client (median, best/best);\n"
	       "CPU ms/MiB of the bare reader, of server and holder with 1, 10 and 0 clients; bytes/frame; skips\n"
	       "load        MiB   bare        one  best    ten  best   none  best   read   srv1  hld1  srv10 hld10   srv0  hld0 frame1 frm10 skips\n");
	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
		if (!only || strcmp(only, loads[i].name) == 0)
			run_load(&t, &loads[i], rounds, &line);
	if (!only || strcmp(only, slow.name) == 0)
		run_slow(&t, &slow, rounds < 3 ? rounds : 3, &line);
	stats_print(&line, "flood");
	target_close(&t);
	return 0;
}
