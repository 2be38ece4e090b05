/*
 * Attaching, from connect() to `ready` with the snapshot: to a session that has written nothing, to one with a
 * full-screen program, and to one with 10,000 lines of scrollback, with and without them; and resuming with the last 64
 * KB. Baselines: a request for /healthz on a new connection, and as many bytes as the largest snapshot over plain TCP.
 */
#include "client.h"
#include "process.h"
#include "stats.h"
#include "streams.h"
#include "target.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RING_BYTES (4ul << 20)
#define FILE_BYTES ((size_t)2 << 20) /* of text: more than 10 000 lines */
#define REST_BYTES 65536u
#define TRIES 40 /* in a round */
#define ROUNDS_MAX 25

enum way {
	WAY_HEALTH,
	WAY_PLAIN,
	WAY_EMPTY,
	WAY_FULLSCREEN,
	WAY_LINES,
	WAY_SCREEN,
	WAY_REST,
	WAYS
};

/* The request of each. */
static const struct {
	const char *name, *session, *query;
} ways[WAYS] = {
	{"healthz", NULL, NULL},
	{"plain_tcp", NULL, NULL},
	{"empty", "empty", ""},
	{"fullscreen", "fullscreen", ""},
	{"lines", "lines", ""},
	{"screen", "lines", "&scrollback=0"},
	{"rest", "lines", NULL},
};

struct samples {
	double ms[TRIES * ROUNDS_MAX];
	double round[ROUNDS_MAX]; /* p50 of each */
	unsigned count;
};

static uint8_t buffer[CLIENT_READ];

/* Start a process that sends as much as a full ring to each connection. Returns its port. */
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

static uint64_t attach(const struct target *t, const char *session, const char *query)
{
	struct client *c = client_open(t->port, session, query, NULL);
	while (!c->ready)
		client_read(c, buffer, sizeof buffer);
	uint64_t bytes = c->bytes + c->snapshot_bytes;
	client_close(c);
	return bytes;
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
	char rest[96];        /* the query that continues */
	uint64_t bytes[WAYS]; /* received */
};

static void once(struct scene *s, enum way way)
{
	char answer[1024];
	if (way == WAY_PLAIN)
		read_plain(s->plain_port);
	else if (way != WAY_HEALTH)
		s->bytes[way] = attach(
			&s->target, ways[way].session, way == WAY_REST ? s->rest : ways[way].query);
	else if (target_http(&s->target, "GET /healthz", NULL, answer, sizeof answer) != 200)
		die(answer);
}

/* Start a session that writes so much of a stream and then waits. */
static void fill(const struct target *t, const char *session, enum stream_kind kind, size_t cap)
{
	char script[128], path[128], text[512];
	uint8_t *bytes = malloc(cap);
	snprintf(path, sizeof path, "%s/%s.bytes", t->dir, session);
	FILE *f = fopen(path, "w");
	if (!bytes || !f)
		die(path);
	size_t length = stream_make(kind, bytes, cap);
	if (fwrite(bytes, 1, length, f) != length)
		die(path);
	fclose(f);
	free(bytes);
	snprintf(text, sizeof text,
		"#!/bin/sh\nstty raw -echo\ncat %s\nprintf '\\r\\nFILLED\\r\\n'\nread end\n", path);
	target_script(t, session, text, script);
	target_session(t, session, script);
	struct client *c = client_open(t->port, session, "", "FILLED");
	client_wait(c);
	client_close(c);
}

/* Where a client that lacks the last bytes of a session resumes. */
static void find_rest(struct scene *s, const char *session)
{
	char request[64], answer[4096];
	snprintf(request, sizeof request, "GET /api/session/%s", session);
	if (target_http(&s->target, request, NULL, answer, sizeof answer) != 200)
		die(answer);
	const char *epoch = strstr(answer, "\"epoch\":\""), *offset = strstr(answer, "\"offset\":");
	if (!epoch || !offset)
		die(answer);
	snprintf(s->rest, sizeof s->rest, "&epoch=%.16s&offset=%llu", epoch + 9,
		strtoull(offset + 9, NULL, 10) - REST_BYTES);
}

static void print_way(
	enum way way, struct samples *all, uint64_t bytes, unsigned rounds, struct stats_line *line)
{
	struct samples *s = &all[way];
	double times = stats_ratio(s->round, all[WAY_HEALTH].round, rounds),
	       to_plain = stats_ratio(s->round, all[WAY_PLAIN].round, rounds);
	double p50 = stats_quantile(s->ms, s->count, 0.5),
	       p99 = stats_quantile(s->ms, s->count, 0.99),
	       best = stats_quantile(s->ms, s->count, 0);
	printf("%-11s %8lu %8.3f %8.3f %8.3f %8.2f %8.2f\n", ways[way].name, (unsigned long)bytes,
		best, p50, p99, times, to_plain);
	stats_add(line, (double)bytes, "%s_bytes", ways[way].name);
	stats_add(line, p50, "%s_p50_ms", ways[way].name);
	stats_add(line, p99, "%s_p99_ms", ways[way].name);
	stats_add(line, times, "%s_ratio", ways[way].name);
}

int main(int argc, char **argv)
{
	static struct samples samples[WAYS];
	static struct stats_line line;
	static struct scene s;
	char script[128];
	pid_t plain;
	unsigned rounds = 5;
	const char *program = target_arguments(argc, argv, &rounds, ROUNDS_MAX);
	target_open(&s.target, program, RING_BYTES);
	target_script(&s.target, "empty", "#!/bin/sh\nread end\n", script);
	target_session(&s.target, "empty", script);
	fill(&s.target, "fullscreen", STREAM_REDRAW_80X24, FILE_BYTES / 8);
	fill(&s.target, "lines", STREAM_TEXT, FILE_BYTES);
	find_rest(&s, "lines");
	once(&s, WAY_LINES);
	s.bytes[WAY_PLAIN] = s.bytes[WAY_LINES];
	s.plain_port = start_plain(s.bytes[WAY_LINES], &plain);
	for (unsigned n = 0; n < rounds; n++)
		for (int w = 0; w < WAYS; w++) {
			double *of_round = samples[w].ms + samples[w].count;
			for (unsigned i = 0; i < TRIES; i++) {
				uint64_t start = stats_now_ns();
				once(&s, (enum way)w);
				samples[w].ms[samples[w].count++] = stats_us_since(start) / 1e3;
			}
			samples[w].round[n] = stats_median(of_round, TRIES);
		}
	printf("attach: milliseconds from connect() to `ready`; ratios to healthz and to plain TCP\n"
	       "what           bytes     best      p50      p99 /healthz   /plain\n");
	for (int w = 0; w < WAYS; w++)
		print_way((enum way)w, samples, s.bytes[w], rounds, &line);
	stats_print(&line, "attach");
	process_kill(plain);
	target_close(&s.target);
	return 0;
}
