/*
 * Echo of a keystroke: bare PTY against ringside, through the terminal's own echo (cat) and through
 * readline (bash), idle and beside a session that floods; a byte over loopback TCP and back is the second
 * measure. Each round takes all of them in turn.
 */
#include "client.h"
#include "process.h"
#include "stats.h"
#include "target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEYS 300 /* in a round */
#define LINE 40  /* keys, then the line is thrown away */
#define ROUNDS_MAX 101
#define KILL_LINE "\x15"

enum way { WAY_BARE, WAY_RINGSIDE, WAY_TCP, WAYS };

/* Something that a byte can be sent into and comes back from. */
struct path {
	int fd;
	struct client *client; /* or NULL: fd is written and read as it is */
};

struct series {
	double p50[ROUNDS_MAX], p99[ROUNDS_MAX]; /* microseconds */
};

static uint8_t buffer[CLIENT_READ];

static void wait_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	errno = 0;
	if (poll(&p, 1, 10000) <= 0)
		die("no echo");
}

static void put(const struct path *p, const char *key)
{
	if (p->client)
		client_type(p->client, key, 1);
	else if (write(p->fd, key, 1) != 1)
		die("write");
}

/* Wait until bytes have come; returns the last of them. */
static uint8_t get(const struct path *p)
{
	if (p->client) {
		uint64_t before = p->client->bytes;
		while (p->client->bytes == before) {
			wait_readable(p->fd);
			client_read(p->client, buffer, sizeof buffer);
		}
		return p->client->last;
	}
	wait_readable(p->fd);
	ssize_t n = read(p->fd, buffer, sizeof buffer);
	if (n <= 0)
		die("read");
	return buffer[n - 1];
}

static void drain(const struct path *p)
{
	struct pollfd poll_fd = {.fd = p->fd, .events = POLLIN};
	while (poll(&poll_fd, 1, 20) > 0) {
		if (p->client)
			client_read(p->client, buffer, sizeof buffer);
		else if (read(p->fd, buffer, sizeof buffer) <= 0)
			die("read");
	}
}

static void measure(const struct path *p, unsigned pause_us, struct series *s, unsigned round)
{
	static double us[KEYS];
	drain(p);
	for (unsigned i = 0; i < KEYS; i++) {
		char key[2] = {(char)('a' + i % 26), '\0'};
		if (i % LINE == LINE - 1) {
			put(p, KILL_LINE);
			drain(p);
		}
		if (pause_us > 0)
			usleep(pause_us);
		uint64_t start = stats_now_ns();
		put(p, key);
		while (get(p) != (uint8_t)key[0])
			;
		us[i] = (double)(stats_now_ns() - start) / 1000;
	}
	put(p, KILL_LINE);
	s->p50[round] = stats_quantile(us, KEYS, 0.5);
	s->p99[round] = stats_quantile(us, KEYS, 0.99);
}

/* A process that sends back what it gets over TCP. */
static struct path open_tcp(pid_t *ret_pid)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;
	int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 1) < 0 ||
		getsockname(listener, (struct sockaddr *)&address, &length) < 0)
		die("listen");
	*ret_pid = process_fork();
	if (*ret_pid == 0) {
		char text[64];
		ssize_t n;
		int fd = accept(listener, NULL, NULL);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		while ((n = read(fd, text, sizeof text)) > 0 && write(fd, text, (size_t)n) == n)
			wait_readable(fd);
		_exit(0);
	}
	close(listener);
	return (struct path){.fd = client_connect(ntohs(address.sin_port))};
}

/* A client that reads a flooding session as fast as it can, in a process of its own. */
static pid_t start_noise(const struct target *t, const char *script)
{
	target_session(t, "noise", script);
	pid_t pid = process_fork();
	if (pid == 0) {
		struct client *c = client_open(t->port, "noise", "", NULL);
		for (;;)
			client_read(c, buffer, sizeof buffer);
	}
	return pid;
}

static pid_t start_bare_noise(const char *script)
{
	pid_t pid = process_fork();
	if (pid == 0) {
		int master;
		process_on_pty(script, &master);
		while (read(master, buffer, sizeof buffer) > 0)
			;
		_exit(0);
	}
	return pid;
}

static struct path open_bare(const char *script)
{
	struct path p = {0};
	process_on_pty(script, &p.fd);
	process_expect(p.fd, "READY");
	return p;
}

static struct path open_ringside(const struct target *t, const char *id, const char *script)
{
	target_session(t, id, script);
	struct client *c = client_open(t->port, id, "", "READY");
	client_wait(c);
	return (struct path){.fd = c->fd, .client = c};
}

static void print_case(const char *name, struct series *s, unsigned rounds, struct stats_line *line)
{
	double p50[WAYS] = {0}, p99[WAYS] = {0}, extra[ROUNDS_MAX];
	for (unsigned i = 0; i < rounds; i++)
		extra[i] = s[WAY_RINGSIDE].p50[i] - s[WAY_BARE].p50[i];
	double more = stats_median(extra, rounds), least = 0;
	double best[WAYS] = {0};
	for (int w = 0; w < WAYS; w++) {
		if (s[w].p50[0] == 0)
			continue;
		p50[w] = stats_median(s[w].p50, rounds);
		best[w] = stats_quantile(s[w].p50, rounds, 0);
		p99[w] = stats_median(s[w].p99, rounds);
	}
	least = best[WAY_RINGSIDE] - best[WAY_BARE];
	printf("%-12s %7.1f %8.1f %9.1f %8.1f %8.1f %8.1f %9.1f %9.1f %7.2f\n", name, p50[WAY_BARE],
		p99[WAY_BARE], p50[WAY_RINGSIDE], p99[WAY_RINGSIDE], p50[WAY_TCP], p99[WAY_TCP],
		more, least, p50[WAY_RINGSIDE] / p50[WAY_BARE]);
	stats_add(line, p50[WAY_BARE], "%s_bare_p50_us", name);
	stats_add(line, p99[WAY_BARE], "%s_bare_p99_us", name);
	stats_add(line, p50[WAY_RINGSIDE], "%s_p50_us", name);
	stats_add(line, p99[WAY_RINGSIDE], "%s_p99_us", name);
	stats_add(line, more, "%s_extra_p50_us", name);
	stats_add(line, least, "%s_extra_best_us", name);
}

/* One program, idle: keys back to back, and with the pauses of a (fast) machine between them. */
static void measure_idle(const struct path *paths, struct series s[][WAYS], unsigned round)
{
	for (int w = 0; w < WAYS; w++)
		measure(&paths[w], 0, &s[0][w], round);
	for (int w = 0; w < WAYS; w++)
		measure(&paths[w], 2000, &s[1][w], round);
}

static void measure_beside_flood(const struct target *t, const struct path *paths, const char *yes,
	struct series *s, unsigned round)
{
	pid_t noise = start_bare_noise(yes);
	usleep(100000);
	measure(&paths[WAY_BARE], 0, &s[WAY_BARE], round);
	measure(&paths[WAY_TCP], 0, &s[WAY_TCP], round);
	process_kill(noise);
	noise = start_noise(t, yes);
	usleep(100000);
	measure(&paths[WAY_RINGSIDE], 0, &s[WAY_RINGSIDE], round);
	process_kill(noise);
	target_delete(t, "noise");
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"cat", "cat_paced", "cat_flood", "bash", "bash_paced", "bash_flood"};
	static struct series series[6][WAYS];
	static struct stats_line line;
	static struct target t;
	char cat[128], bash[128], yes[128];
	pid_t tcp;
	unsigned rounds = 5;
	const char *program = target_arguments(argc, argv, &rounds);
	rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
	target_open(&t, program, 4ul << 20);
	target_script(&t, "cat", "#!/bin/sh\necho READY\nexec cat\n", cat);
	target_script(&t, "bash",
		"#!/bin/sh\nexport TERM=xterm PS1='READY ' PROMPT_COMMAND= HISTFILE=\n"
		"exec bash --norc --noprofile -i\n",
		bash);
	target_script(&t, "yes", "#!/bin/sh\nexec yes\n", yes);
	struct path through_tcp = open_tcp(&tcp);
	struct path paths[2][WAYS] = {
		{open_bare(cat), open_ringside(&t, "cat", cat), through_tcp},
		{open_bare(bash), open_ringside(&t, "bash", bash), through_tcp},
	};
	for (unsigned n = 0; n < rounds; n++)
		for (int i = 0; i < 2; i++) {
			measure_idle(paths[i], series + 3 * i, n);
			measure_beside_flood(&t, paths[i], yes, series[3 * i + 2], n);
		}
	printf("echo: microseconds; median over rounds of each round's p50 and p99\n"
	       "case         bare50   bare99 ringsd50 ringsd99    tcp50    tcp99   extra50 best-best   ratio\n");
	for (int i = 0; i < 6; i++)
		print_case(names[i], series[i], rounds, &line);
	stats_print(&line, "echo");
	process_kill(tcp);
	target_close(&t);
	return 0;
}
