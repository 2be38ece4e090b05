/*
 * Adoption: with many sessions, kill the server and start a new one. Measures the time until it answers, until all
 * sessions are running, and until a client of each has its screen. Sessions whose ring has been overwritten many times
 * are restored from a checkpoint and half a ring of output. The baseline is the start of a server without sessions.
 */
#include "client.h"
#include "process.h"
#include "stats.h"
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SESSIONS 200
#define MANY_SESSIONS 1000
#define COMMANDS 3           /* run through the API, in each session */
#define SCROLLED_SESSIONS 20 /* their rings are full */
#define ROUNDS_MAX 101
#define ANSWER ((size_t)4 << 20)
#define FILL_BYTES (256u << 10)
#define SCROLLED_LINES 250000u /* some 10 MiB */

static char answer[ANSWER];

static unsigned count_running(const struct target *t)
{
	unsigned count = 0;
	if (target_http(t, "GET /api/session/list", NULL, answer, sizeof answer) != 200)
		die(answer);
	for (const char *at = answer; (at = strstr(at, "\"state\":\"running\"")); at++)
		count++;
	return count;
}

struct times {
	double empty[ROUNDS_MAX], answers[ROUNDS_MAX], running[ROUNDS_MAX], screens[ROUNDS_MAX],
		cpu[ROUNDS_MAX]; /* ms; cpu: of the server, until running */
};

/* Read the whole screen of each session with a client, and find text in it. */
static void read_all_screens(const struct target *t, unsigned sessions, const char *text)
{
	char id[16];
	for (unsigned i = 0; i < sessions; i++) {
		snprintf(id, sizeof id, "a%u", i);
		struct client *c = client_open(t->port, id, "", text);
		client_wait(c);
		client_close(c);
	}
}

/* Kill and restart the server. */
static void restart(struct target *t, unsigned sessions, struct times *times, unsigned n)
{
	target_kill(t);
	uint64_t start = stats_now_ns();
	target_start(t);
	if (target_http(t, "GET /healthz", NULL, answer, sizeof answer) != 200)
		die(answer);
	times->answers[n] = stats_us_since(start) / 1e3;
	while (count_running(t) < sessions) {
		errno = 0;
		if (stats_us_since(start) / 1e3 > 20000)
			die("sessions are missing");
	}
	times->running[n] = stats_us_since(start) / 1e3;
	times->cpu[n] = process_cpu(t->pid) * 1e3;
	read_all_screens(t, sessions, "READY");
	times->screens[n] = stats_us_since(start) / 1e3;
}

static void print_case(const char *name, unsigned sessions, struct times *t, unsigned rounds,
	struct stats_line *line)
{
	double times = stats_ratio(t->running, t->empty, rounds);
	double a = stats_median(t->answers, rounds), r = stats_median(t->running, rounds),
	       worst = stats_quantile(t->running, rounds, 1), e = stats_median(t->empty, rounds),
	       screens = stats_median(t->screens, rounds), cpu = stats_median(t->cpu, rounds);
	printf("%-11s %8u %8.1f %8.1f %8.1f %8.1f %8.1f %7.1f %7.1f\n", name, sessions, e, a, r,
		worst, screens, times, cpu);
	fflush(stdout);
	stats_add(line, a, "%s_answers_ms", name);
	stats_add(line, r, "%s_running_ms", name);
	stats_add(line, screens, "%s_screens_ms", name);
	stats_add(line, times, "%s_ratio", name);
	stats_add(line, cpu, "%s_cpu_ms", name);
}

/* Run bash with commands of programs in each session. */
static void run_commands(const struct target *t, const char *id)
{
	char request[64];
	snprintf(request, sizeof request, "POST /api/session/%s/exec", id);
	for (unsigned i = 0; i < COMMANDS; i++)
		if (target_http(t, request, "{\"command\":\"PS1='READY '; echo some output\"}",
			    answer, sizeof answer) != 200)
			die(answer);
}

/* Run the same program in all sessions. The table shows what they have written. */
static void run_case(const char *name, const char *program, unsigned sessions,
	const char *script_text, unsigned rounds, struct stats_line *line)
{
	static struct times times, empty;
	static struct target none, t;
	char script[128], id[16];
	target_open(&none, program, 4ul << 20);
	target_open(&t, program, 4ul << 20);
	if (script_text)
		target_script(&t, "shell", script_text, script);
	for (unsigned i = 0; i < sessions; i++) {
		snprintf(id, sizeof id, "a%u", i);
		target_session(&t, id, script_text ? script : "bash");
		if (!script_text)
			run_commands(&t, id);
	}
	read_all_screens(&t, sessions, "READY");
	for (unsigned n = 0; n < rounds; n++) {
		restart(&none, 0, &empty, n);
		times.empty[n] = empty.running[n];
		restart(&t, sessions, &times, n);
	}
	print_case(name, sessions, &times, rounds, line);
	target_close(&t);
	target_close(&none);
}

int main(int argc, char **argv)
{
	static struct stats_line line;
	char text[512];
	unsigned rounds = 7;
	const char *program = target_arguments(argc, argv, &rounds, ROUNDS_MAX);
	printf("adopt: milliseconds from exec to an answer, until all sessions are running, and until a client has had the\n"
	       "screen of each, one after the other; ratio of the second to an empty start; CPU time of the server by then\n"
	       "history     sessions    empty  answers  running    worst  screens   ratio     cpu\n");
	run_case("prompt", program, SESSIONS, TARGET_BASH, rounds, &line);
	run_case("many", program, MANY_SESSIONS, TARGET_BASH, rounds, &line);
	snprintf(text, sizeof text,
		"#!/bin/sh\nhead -c %u /dev/zero | tr '\\0' x | fold -w 79\necho READY\nread end\n",
		FILL_BYTES);
	run_case("worked", program, SESSIONS, NULL, rounds, &line);
	run_case("quarter_mib", program, SESSIONS, text, rounds, &line);
	snprintf(text, sizeof text,
		"#!/bin/sh\nseq -f '\033[3%%.0fm a line of output that fills the ring' %u\n"
		"printf '\\033[mREADY\\n'\nread end\n",
		SCROLLED_LINES);
	run_case("scrolled", program, SCROLLED_SESSIONS, text, rounds, &line);
	stats_print(&line, "adopt");
	return 0;
}
