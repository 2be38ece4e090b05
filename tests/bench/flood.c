/*
 * Throughput: a program that floods its terminal, read by a tight loop on a bare PTY, by one client and
 * by ten clients of a session. Rounds are interleaved, ratios are taken within a round.
 */
#include "client.h"
#include "process.h"
#include "stats.h"
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
#define FILE_BYTES ((size_t)30 << 20)
#define RING_BYTES (32ul << 20) /* so large that no client is left behind */

struct load {
	const char *name;
	const char *command; /* %s is the file */
	const char *modes;   /* of stty */
	char script[128];
	uint64_t bytes; /* that come out of the terminal */
};

/* How one load went through ringside, and the bare PTY beside it. */
struct result {
	double bare[ROUNDS_MAX], one[ROUNDS_MAX], ten[ROUNDS_MAX]; /* seconds */
	double server[2][ROUNDS_MAX], holder[2][ROUNDS_MAX]; /* CPU seconds with 1 and 10 clients */
	double reader[ROUNDS_MAX];                           /* CPU seconds of the bare reader */
	double frame[2][ROUNDS_MAX];                         /* bytes in a frame */
	unsigned skips;
};

static uint8_t buffer[CLIENT_READ];

/* Lines of all lengths, some coloured, some not ASCII; the same each time. */
static void write_file(const char *path)
{
	static const char *const words[] = {"the", "quick", "brown", "fox", "jumps over", "a",
		"lazy", "dog", "\033[1;32m/usr/bin/ls\033[0m", "0x7fff5fbff8c8",
		"error:", "\xc3\xa4hnlich", "\xe6\x97\xa5\xe6\x9c\xac", "warning: unused variable",
		"\t", "---"};
	FILE *f = fopen(path, "w");
	uint32_t random = 1;
	if (!f)
		die(path);
	for (size_t written = 0; written < FILE_BYTES;) {
		random = random * 1664525u + 1013904223u;
		unsigned count = (random >> 24) % 20;
		for (unsigned i = 0; i < count; i++) {
			random = random * 1664525u + 1013904223u;
			written += (size_t)fprintf(f, "%s ", words[random >> 28]);
		}
		written += fputs("\n", f) >= 0;
	}
	fclose(f);
}

/* The file comes first, unmeasured: it touches the pages of the ring, as any long session has done. */
static void make_script(const struct target *t, struct load *l, const char *file)
{
	char command[256], text[512];
	/* The format is one of ours, below. */
	snprintf(command, sizeof command, "%s", l->command);
	char *place = strchr(command, '@');
	if (place) {
		char rest[64];
		snprintf(rest, sizeof rest, "%s", place + 1);
		snprintf(place, sizeof command - (size_t)(place - command), "%s%s", file, rest);
	}
	snprintf(text, sizeof text,
		"#!/bin/sh\nstty %s -echo\ncat %s\necho READY\nread go\nexec %s\n", l->modes, file,
		command);
	target_script(t, l->name, text, l->script);
}

/* In raw mode there is no CR: wait for what both modes have. */
static void go_bare(const struct load *l, int *ret_master, pid_t *ret_pid)
{
	*ret_pid = process_on_pty(l->script, ret_master);
	process_expect(*ret_master, "READY");
	usleep(20000);
	(void)!read(*ret_master, buffer, 0);
	int flags = fcntl(*ret_master, F_GETFL);
	fcntl(*ret_master, F_SETFL, flags | O_NONBLOCK);
	while (read(*ret_master, buffer, sizeof buffer) > 0)
		; /* the end of READY's line */
	fcntl(*ret_master, F_SETFL, flags);
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
		die("the bare PTY has lost bytes");
	return (double)(end - start) / 1e9;
}

/* Read until every client has l->bytes. Returns the time when the last one had. */
static uint64_t read_all(const struct load *l, struct client **clients, unsigned count)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	unsigned left = count;
	for (unsigned i = 0; i < count; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.ptr = clients[i]};
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i]->fd, &e) < 0)
			die("epoll_ctl");
	}
	while (left > 0) {
		struct epoll_event events[CLIENTS];
		int n = epoll_wait(epoll, events, CLIENTS, 10000);
		errno = 0;
		if (n <= 0)
			die("bytes are missing");
		for (int i = 0; i < n; i++) {
			struct client *c = events[i].data.ptr;
			bool before = c->bytes >= l->bytes || c->exited;
			client_read(c, buffer, sizeof buffer);
			/* One that was left behind by the ring has only the exit to wait for. */
			left -= !before && (c->bytes >= l->bytes || c->exited);
		}
	}
	close(epoll);
	return stats_now_ns();
}

/* After the end of the program: nothing was lost, nothing came twice. */
static void check(const struct load *l, struct client *c, struct result *r)
{
	while (!c->exited)
		client_read(c, buffer, sizeof buffer);
	errno = 0;
	r->skips += c->skips;
	if (c->skips == 0 && c->bytes != l->bytes)
		die("a client has got a wrong number of bytes");
}

static double run_ringside(const struct target *t, const struct load *l, unsigned count,
	struct result *r, unsigned round)
{
	struct client *clients[CLIENTS];
	pid_t holder = process_parent(target_session(t, "flood", l->script));
	for (unsigned i = 0; i < count; i++) {
		clients[i] = client_open(t->port, "flood", "READY");
		client_wait(clients[i]);
	}
	usleep(20000);
	for (unsigned i = 0; i < count; i++) {
		fcntl(clients[i]->fd, F_SETFL, O_NONBLOCK);
		while (client_read(clients[i], buffer, sizeof buffer) > 0)
			; /* presence, and the end of READY's line */
		clients[i]->bytes = clients[i]->frames = 0;
	}
	double server_before = process_cpu(t->pid), holder_before = process_cpu(holder);
	uint64_t start = stats_now_ns();
	client_type(clients[0], "\n", 1);
	uint64_t end = read_all(l, clients, count);
	r->server[count > 1][round] = process_cpu(t->pid) - server_before;
	r->holder[count > 1][round] = process_cpu(holder) - holder_before;
	r->frame[count > 1][round] = (double)clients[0]->bytes / (double)clients[0]->frames;
	for (unsigned i = 0; i < count; i++) {
		fcntl(clients[i]->fd, F_SETFL, 0);
		check(l, clients[i], r);
		client_close(clients[i]);
	}
	target_delete(t, "flood");
	return (double)(end - start) / 1e9;
}

static void print_load(struct load *l, struct result *r, unsigned n, struct stats_line *line)
{
	double one[ROUNDS_MAX], ten[ROUNDS_MAX], mib = (double)l->bytes / 1048576;
	for (unsigned i = 0; i < n; i++) {
		one[i] = r->bare[i] / r->one[i];
		ten[i] = r->bare[i] / r->ten[i];
	}
	double bare = mib / stats_median(r->bare, n), to_one = stats_median(one, n),
	       to_ten = stats_median(ten, n);
	double server[] = {stats_median(r->server[0], n), stats_median(r->server[1], n)};
	double reader = stats_median(r->reader, n);
	double holder[] = {stats_median(r->holder[0], n), stats_median(r->holder[1], n)};
	printf("%-5s %5.1f %7.1f ±%2.0f%% %6.2f %6.2f %6.2f %6.2f   %5.2f %5.2f %5.2f   %5.2f %5.2f  %6.0f %6.0f %5u\n",
		l->name, mib, bare, 100 * stats_noise(r->bare, n), to_one,
		stats_quantile(r->bare, n, 0) / stats_quantile(r->one, n, 0), to_ten,
		stats_quantile(r->bare, n, 0) / stats_quantile(r->ten, n, 0), 1000 * reader / mib,
		1000 * server[0] / mib, 1000 * holder[0] / mib, 1000 * server[1] / mib,
		1000 * holder[1] / mib, stats_median(r->frame[0], n), stats_median(r->frame[1], n),
		r->skips);
	stats_add(line, bare, "%s_bare_mib_s", l->name);
	stats_add(line, to_one, "%s_one", l->name);
	stats_add(line, to_ten, "%s_ten", l->name);
	stats_add(line, reader * 1000 / mib, "%s_bare_reader_ms_mib", l->name);
	stats_add(line, server[0] * 1000 / mib, "%s_one_server_ms_mib", l->name);
	stats_add(line, holder[0] * 1000 / mib, "%s_one_holder_ms_mib", l->name);
	stats_add(line, server[1] * 1000 / mib, "%s_ten_server_ms_mib", l->name);
	stats_add(line, r->skips, "%s_skips", l->name);
}

int main(int argc, char **argv)
{
	static struct load loads[] = {
		{.name = "cat", .command = "cat @", .modes = "sane"},
		{.name = "seq", .command = "seq 1500000", .modes = "sane"},
		{.name = "raw", .command = "dd if=@ bs=64k status=none", .modes = "raw"},
	};
	static struct result results[sizeof loads / sizeof *loads];
	static struct stats_line line;
	static struct target t;
	char file[128];
	unsigned rounds = 5;
	const char *program = target_arguments(argc, argv, &rounds);
	const char *ring = getenv("BENCH_RING_SIZE"), *only = getenv("BENCH_LOAD");
	rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
	target_open(&t, program, ring ? strtoul(ring, NULL, 10) : RING_BYTES);
	snprintf(file, sizeof file, "%s/text", t.dir);
	write_file(file);
	printf("flood: MiB, bare MiB/s; of it to one client and to each of ten (median, best/best); CPU ms/MiB of\n"
	       "the bare reader, of server and holder with 1 and with 10 clients; bytes/frame; `skipped` syncs\n"
	       "load    MiB    bare        one   best    ten   best    read  srv1  hld1   srv10 hld10  frame1 frame10 skips\n");
	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
		if (only && strcmp(only, loads[i].name) != 0)
			continue;
		struct result *r = &results[i];
		make_script(&t, &loads[i], file);
		for (unsigned n = 0; n < rounds; n++) {
			r->bare[n] = run_bare(&loads[i], &r->reader[n]);
			r->one[n] = run_ringside(&t, &loads[i], 1, r, n);
			r->ten[n] = run_ringside(&t, &loads[i], CLIENTS, r, n);
		}
		print_load(&loads[i], r, rounds, &line);
		fflush(stdout);
	}
	stats_print(&line, "flood");
	target_close(&t);
	return 0;
}
