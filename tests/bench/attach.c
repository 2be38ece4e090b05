/*
 * Attaching: from connect() to `ready`, for a session that has written nothing and for one whose ring of
 * 4 MiB is full. Measures: a request for /healthz on a new connection, and the same bytes over plain TCP.
 */
#include "client.h"
#include "process.h"
#include "stats.h"
#include "target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RING_BYTES (4ul << 20)
#define TRIES 40 /* in a round */
#define ROUNDS_MAX 25

enum way { WAY_HEALTH, WAY_UNTOUCHED, WAY_PLAIN, WAY_FULL, WAYS };

struct samples {
	double ms[TRIES * ROUNDS_MAX];
	double round[ROUNDS_MAX]; /* p50 of each */
	unsigned count;
};

static uint8_t buffer[CLIENT_READ];

/* A process that sends as much as a full ring to whoever connects. Returns its port. */
static unsigned start_plain(size_t bytes, pid_t *ret_pid)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;
	int fd, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 1) < 0 ||
		getsockname(listener, (struct sockaddr *)&address, &length) < 0)
		die("listen");
	*ret_pid = process_fork();
	if (*ret_pid == 0) {
		char *text = calloc(1, bytes);
		while (text && (fd = accept(listener, NULL, NULL)) >= 0) {
			for (size_t done = 0; done < bytes;) {
				size_t part = bytes - done < 65536 ? bytes - done : 65536;
				ssize_t n = write(fd, text + done, part);
				if (n <= 0)
					break;
				done += (size_t)n;
			}
			close(fd);
		}
		_exit(0);
	}
	close(listener);
	return ntohs(address.sin_port);
}

static void attach(const struct target *t, const char *session, uint64_t *ret_bytes)
{
	struct client *c = client_open(t->port, session, NULL);
	while (!c->ready)
		client_read(c, buffer, sizeof buffer);
	*ret_bytes = c->bytes;
	client_close(c);
}

static void read_plain(unsigned port)
{
	int fd = client_connect(port);
	while (read(fd, buffer, sizeof buffer) > 0)
		;
	close(fd);
}

struct scene {
	struct target target;
	unsigned plain_port;
	uint64_t bytes[WAYS]; /* that came */
};

static void once(struct scene *s, enum way way)
{
	char answer[1024];
	switch (way) {
	case WAY_HEALTH:
		if (target_http(&s->target, "GET /healthz", NULL, answer, sizeof answer) != 200)
			die(answer);
		break;
	case WAY_UNTOUCHED:
		attach(&s->target, "untouched", &s->bytes[way]);
		break;
	case WAY_PLAIN:
		read_plain(s->plain_port);
		break;
	default:
		attach(&s->target, "full", &s->bytes[way]);
	}
}

/* Fill the ring of a session and wait until it is. */
static void fill(const struct target *t)
{
	char script[128], text[256];
	snprintf(text, sizeof text,
		"#!/bin/sh\nseq -f '\033[3%%.0fm a line of output that fills the ring' %lu\n"
		"echo FILLED\nread end\n",
		RING_BYTES / 40);
	target_script(t, "full", text, script);
	target_session(t, "full", script);
	struct client *c = client_open(t->port, "full", "FILLED");
	client_wait(c);
	client_close(c);
}

static void print_way(const char *name, const struct samples *base, struct samples *s,
	uint64_t bytes, unsigned rounds, struct stats_line *line)
{
	double ratio[ROUNDS_MAX];
	for (unsigned i = 0; i < rounds; i++)
		ratio[i] = s->round[i] / base->round[i];
	double p50 = stats_quantile(s->ms, s->count, 0.5),
	       p99 = stats_quantile(s->ms, s->count, 0.99),
	       best = stats_quantile(s->ms, s->count, 0), r = stats_median(ratio, rounds);
	printf("%-10s %9lu %8.3f %8.3f %8.3f %7.2f\n", name, (unsigned long)bytes, best, p50, p99,
		r);
	stats_add(line, p50, "%s_p50_ms", name);
	stats_add(line, p99, "%s_p99_ms", name);
	stats_add(line, r, "%s_ratio", name);
}

int main(int argc, char **argv)
{
	static struct samples samples[WAYS];
	static struct stats_line line;
	static struct scene s;
	char script[128];
	pid_t plain;
	unsigned rounds = 5;
	const char *program = target_arguments(argc, argv, &rounds);
	rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
	target_open(&s.target, program, RING_BYTES);
	target_script(&s.target, "untouched", "#!/bin/sh\nread end\n", script);
	target_session(&s.target, "untouched", script);
	fill(&s.target);
	once(&s, WAY_FULL);
	s.plain_port = start_plain(s.bytes[WAY_FULL], &plain);
	for (unsigned n = 0; n < rounds; n++)
		for (int w = 0; w < WAYS; w++) {
			double *of_round = samples[w].ms + samples[w].count;
			for (unsigned i = 0; i < TRIES; i++) {
				uint64_t start = stats_now_ns();
				once(&s, (enum way)w);
				samples[w].ms[samples[w].count++] = (double)(stats_now_ns() - start) /
					1e6;
			}
			samples[w].round[n] = stats_median(of_round, TRIES);
		}
	printf("attach: milliseconds from connect() to `ready`; ratio to the line above\n"
	       "what           bytes     best      p50      p99   ratio\n");
	print_way("healthz", &samples[WAY_HEALTH], &samples[WAY_HEALTH], 0, rounds, &line);
	print_way("untouched", &samples[WAY_HEALTH], &samples[WAY_UNTOUCHED],
		s.bytes[WAY_UNTOUCHED], rounds, &line);
	print_way("plain_tcp", &samples[WAY_PLAIN], &samples[WAY_PLAIN], s.bytes[WAY_FULL], rounds,
		&line);
	print_way("full", &samples[WAY_PLAIN], &samples[WAY_FULL], s.bytes[WAY_FULL], rounds, &line);
	stats_print(&line, "attach");
	process_kill(plain);
	target_close(&s.target);
	return 0;
}
