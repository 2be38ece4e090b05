/*
 * Commands in a session's shell over one HTTP connection: builtins that succeed and fail, a program, output, many
 * sessions at once. The baseline is a similar bash on a bare PTY: a typed line until the prompt, a loop of /bin/true,
 * output until its end. Each round measures all in turn.
 */
#include "process.h"
#include "stats.h"
#include "target.h"
#include "web.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS 100 /* per round */
#define SESSIONS 20
#define COMMANDS_EACH 10 /* in each of SESSIONS */
#define ROUNDS_MAX 101
#define WAIT_MS 60000
#define SAMPLE_MS 10
#define PROMPT "READY "
#define MEGABYTE "head -c 1000000 /dev/zero | tr '\\\\0' x"
#define FLOOD "yes 0123456789abcdef0123456789abcdef012345678 | head -c 100000000"

/* A session that runs commands over a persistent connection. */
struct requester {
	struct web web;
	char path[64];
	bool fails; /* its command exits with status 1 */
};

static void requester_open(struct requester *a, const struct target *t, const char *session)
{
	web_open(&a->web, t->port);
	snprintf(a->path, sizeof a->path, "/api/session/%s/exec", session);
}

static void ask(struct requester *a, const char *command)
{
	char body[512];
	snprintf(body, sizeof body, "{\"command\":\"%s\"}", command);
	web_ask(&a->web, a->path, "", body);
	a->fails = strcmp(command, "false") == 0;
}

/* Read once. Returns whether the answer is complete; its command must have run with the expected status. */
static bool read_answer(struct requester *a)
{
	const char *body = web_read(&a->web);
	if (!body)
		return false;
	if (!strstr(body, a->fails ? "\"exitCode\":1," : "\"exitCode\":0,") ||
		!strstr(body, "\"endedBy\":\"command\""))
		die(body);
	return true;
}

static void wait_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	errno = 0;
	if (poll(&p, 1, WAIT_MS) <= 0)
		die("no answer");
}

static double us_since(uint64_t start)
{
	return (double)(stats_now_ns() - start) / 1e3;
}

static double exec_us(struct requester *w, const char *command)
{
	uint64_t start = stats_now_ns();
	ask(w, command);
	do
		wait_readable(w->web.fd);
	while (!read_answer(w));
	return us_since(start);
}

/* Keep one command running in each session. Returns commands per second. */
static double exec_all(struct requester *all, unsigned count, unsigned each)
{
	struct pollfd polled[SESSIONS];
	unsigned left[SESSIONS], running = count;
	uint64_t start = stats_now_ns();
	for (unsigned i = 0; i < count; i++) {
		polled[i] = (struct pollfd){.fd = all[i].web.fd, .events = POLLIN};
		left[i] = each;
		ask(&all[i], "/bin/true");
	}
	while (running > 0) {
		errno = 0;
		if (poll(polled, count, WAIT_MS) <= 0)
			die("no answer");
		for (unsigned i = 0; i < count; i++) {
			if (!(polled[i].revents & POLLIN) || !read_answer(&all[i]))
				continue;
			if (--left[i] > 0)
				ask(&all[i], "/bin/true");
			else
				running--;
		}
	}
	return count * each / us_since(start) * 1e6;
}

/* The bare PTY */

static double typed_us(int master, const char *line)
{
	uint64_t start = stats_now_ns();
	if (write(master, line, strlen(line)) != (ssize_t)strlen(line))
		die("write");
	process_expect(master, PROMPT);
	return us_since(start);
}

/* Run /bin/true in a loop in the shell, which reports the time. */
static double loop_us(int master)
{
	char line[256], text[4096];
	size_t have = 0;
	const char *at;
	snprintf(line, sizeof line,
		"s=${EPOCHREALTIME/./}; for ((i = 0; i < %d; i++)); do /bin/true; done; "
		"echo took=$((${EPOCHREALTIME/./} - s)).\n",
		COMMANDS);
	if (write(master, line, strlen(line)) != (ssize_t)strlen(line))
		die("write");
	do {
		wait_readable(master);
		ssize_t n = read(master, text + have, sizeof text - 1 - have);
		if (n <= 0)
			die("read");
		have += (size_t)n;
		text[have] = '\0';
		at = strstr(text, "\rtook=");
	} while (!at || !strstr(at, PROMPT));
	return atof(at + 6) / COMMANDS;
}

/* Rounds */

enum row { ROW_BUILTIN, ROW_FAILURE, ROW_PROGRAM, ROW_MEGABYTE, ROWS };

struct series {
	double us[ROWS][ROUNDS_MAX], p99[ROWS][ROUNDS_MAX], bare[ROWS][ROUNDS_MAX];
	double loop[ROUNDS_MAX], one[ROUNDS_MAX], all[ROUNDS_MAX];
};

static void measure_command(
	struct requester *w, int master, struct series *s, enum row row, unsigned round)
{
	static const char *const commands[] = {":", "false", "/bin/true"};
	double us[COMMANDS], bare[COMMANDS];
	char line[32];
	snprintf(line, sizeof line, "%s\r", commands[row]);
	for (unsigned i = 0; i < COMMANDS; i++) {
		us[i] = exec_us(w, commands[row]);
		bare[i] = typed_us(master, line);
	}
	s->us[row][round] = stats_median(us, COMMANDS);
	s->p99[row][round] = stats_quantile(us, COMMANDS, 0.99);
	s->bare[row][round] = stats_median(bare, COMMANDS);
}

static void measure_megabyte(struct requester *w, int master, struct series *s, unsigned round)
{
	double us[5], bare[5];
	for (unsigned i = 0; i < 5; i++) {
		us[i] = exec_us(w, MEGABYTE);
		if (w->web.length < 1000000)
			die("output is missing");
		/* Let the line end before the prompt. */
		bare[i] = typed_us(master, "head -c 1000000 /dev/zero | tr '\\0' x; echo\r");
	}
	s->us[ROW_MEGABYTE][round] = stats_median(us, 5);
	s->p99[ROW_MEGABYTE][round] = stats_quantile(us, 5, 0.99);
	s->bare[ROW_MEGABYTE][round] = stats_median(bare, 5);
}

/* Print a hundred million bytes. ret_kib: memory of the server before, at most, and after. */
static void measure_flood(
	const struct target *t, struct requester *w, double ret_kib[3], double *ret_ms)
{
	uint64_t start = stats_now_ns();
	struct pollfd p = {.fd = w->web.fd, .events = POLLIN};
	ret_kib[0] = ret_kib[1] = process_kib(t->pid, "status", "\nRssAnon:");
	ask(w, FLOOD);
	do {
		while (poll(&p, 1, SAMPLE_MS) == 0) {
			double kib = process_kib(t->pid, "status", "\nRssAnon:");
			ret_kib[1] = kib > ret_kib[1] ? kib : ret_kib[1];
			errno = 0;
			if (us_since(start) > WAIT_MS * 1e3)
				die("no answer");
		}
	} while (!read_answer(w));
	*ret_ms = us_since(start) / 1e3;
	ret_kib[2] = process_kib(t->pid, "status", "\nRssAnon:");
}

static double ratio_of(const double *a, const double *b, unsigned rounds)
{
	double ratio[ROUNDS_MAX];
	for (unsigned i = 0; i < rounds; i++)
		ratio[i] = a[i] / b[i];
	return stats_median(ratio, rounds);
}

static void print(struct series *s, unsigned rounds, struct stats_line *line)
{
	static const char *const names[ROWS] = {"builtin", "failure", "true", "megabyte"};
	double loop = ratio_of(s->us[ROW_PROGRAM], s->loop, rounds);
	double scale = ratio_of(s->all, s->one, rounds);
	printf("exec: microseconds of a command in a session's shell; ratio to one typed into a bare PTY\n"
	       "command        p50      p99     bare   ratio\n");
	for (int row = 0; row < ROWS; row++) {
		double ratio = ratio_of(s->us[row], s->bare[row], rounds);
		double p50 = stats_median(s->us[row], rounds),
		       p99 = stats_median(s->p99[row], rounds),
		       bare = stats_median(s->bare[row], rounds);
		printf("%-9s %8.0f %8.0f %8.0f %7.2f\n", names[row], p50, p99, bare, ratio);
		stats_add(line, p50, "%s_us", names[row]);
		stats_add(line, p99, "%s_p99_us", names[row]);
		stats_add(line, ratio, "%s_ratio", names[row]);
	}
	printf("true in a loop of the shell: %.0f, ratio to that %.2f\n",
		stats_median(s->loop, rounds), loop);
	printf("%d sessions at once: %.0f commands a second, one %.0f, ratio %.2f\n", SESSIONS,
		stats_median(s->all, rounds), stats_median(s->one, rounds), scale);
	stats_add(line, loop, "true_loop_ratio");
	stats_add(line, scale, "sessions_ratio");
}

static int open_bare(const struct target *t, pid_t *ret_pid)
{
	char path[128];
	int master;
	target_script(t, "bash",
		"#!/bin/sh\nexport TERM=xterm-256color PS1='" PROMPT "'\n"
		"exec bash --norc --noprofile -i\n",
		path);
	*ret_pid = process_on_pty(path, &master);
	process_expect(master, PROMPT);
	return master;
}

int main(int argc, char **argv)
{
	static struct stats_line line;
	static struct series s;
	static struct target t;
	static struct requester all[SESSIONS];
	char id[16];
	unsigned rounds = 7;
	double kib[3], ms;
	pid_t bare;
	const char *program = target_arguments(argc, argv, &rounds);
	rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
	target_open(&t, program, 4ul << 20);
	int master = open_bare(&t, &bare);
	for (unsigned i = 0; i < SESSIONS; i++) {
		snprintf(id, sizeof id, "e%u", i);
		target_session(&t, id, "/bin/bash");
		requester_open(&all[i], &t, id);
	}
	exec_all(all, SESSIONS, 2);
	for (unsigned i = 0; i < rounds; i++) {
		for (enum row row = ROW_BUILTIN; row <= ROW_PROGRAM; row++)
			measure_command(&all[0], master, &s, row, i);
		s.loop[i] = loop_us(master);
		measure_megabyte(&all[0], master, &s, i);
		s.one[i] = exec_all(all, 1, SESSIONS * COMMANDS_EACH);
		s.all[i] = exec_all(all, SESSIONS, COMMANDS_EACH);
	}
	print(&s, rounds, &line);
	measure_flood(&t, &all[0], kib, &ms);
	printf("100 MB of output: %.0f ms; anonymous memory of the server, KiB: %.0f, at most %.0f, afterwards %.0f\n",
		ms, kib[0], kib[1], kib[2]);
	stats_add(&line, kib[1] - kib[0], "flood_kib");
	stats_add(&line, kib[2] - kib[0], "flood_after_kib");
	for (unsigned i = 0; i < SESSIONS; i++)
		web_close(&all[i].web);
	process_kill(bare);
	target_close(&t);
	stats_print(&line, "exec");
	return 0;
}
