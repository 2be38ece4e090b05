/*
 * Adoption: sessions with a bash each, kill -9 of the server, a new one: how long until it answers
 * and until it calls all of them running? The measure is the start of a server that finds none.
 */
#include "client.h"
#include "process.h"
#include "stats.h"
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SESSIONS 200
#define ROUNDS_MAX 101
#define ANSWER ((size_t)4 << 20)
#define FILL_BYTES (256u << 10)

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

static double ms_since(uint64_t start)
{
	return (double)(stats_now_ns() - start) / 1e6;
}

/* Kill and start again. */
static void restart(
	struct target *t, unsigned sessions, double *ret_answers_ms, double *ret_running_ms)
{
	target_kill(t);
	uint64_t start = stats_now_ns();
	target_start(t);
	if (target_http(t, "GET /healthz", NULL, answer, sizeof answer) != 200)
		die(answer);
	*ret_answers_ms = ms_since(start);
	while (count_running(t) < sessions) {
		errno = 0;
		if (ms_since(start) > 20000)
			die("sessions are missing");
	}
	*ret_running_ms = ms_since(start);
}

static void print_case(const char *name, double *empty, double *answers, double *running,
	unsigned rounds, struct stats_line *line)
{
	double ratio[ROUNDS_MAX];
	for (unsigned i = 0; i < rounds; i++)
		ratio[i] = running[i] / empty[i];
	double a = stats_median(answers, rounds), r = stats_median(running, rounds),
	       worst = stats_quantile(running, rounds, 1), e = stats_median(empty, rounds),
	       times = stats_median(ratio, rounds);
	printf("%-10s %8.1f %8.1f %8.1f %8.1f %7.1f\n", name, e, a, r, worst, times);
	stats_add(line, a, "%s_answers_ms", name);
	stats_add(line, r, "%s_running_ms", name);
	stats_add(line, times, "%s_ratio", name);
}

/* All sessions run the same program; the table is for what they have written by then. */
static void run_case(const char *name, const char *program, const char *script_text,
	unsigned rounds, struct stats_line *line)
{
	static double empty[ROUNDS_MAX], answers[ROUNDS_MAX], running[ROUNDS_MAX];
	static struct target none, t;
	char script[128], id[16];
	target_open(&none, program, 4ul << 20);
	target_open(&t, program, 4ul << 20);
	target_script(&t, "shell", script_text, script);
	for (int i = 0; i < SESSIONS; i++) {
		snprintf(id, sizeof id, "a%d", i);
		target_session(&t, id, script);
	}
	for (int i = 0; i < SESSIONS; i++) {
		snprintf(id, sizeof id, "a%d", i);
		struct client *c = client_open(t.port, id, "READY");
		client_wait(c);
		client_close(c);
	}
	for (unsigned n = 0; n < rounds; n++) {
		double ignored;
		restart(&none, 0, &ignored, &empty[n]);
		restart(&t, SESSIONS, &answers[n], &running[n]);
	}
	print_case(name, empty, answers, running, rounds, line);
	target_close(&t);
	target_close(&none);
}

int main(int argc, char **argv)
{
	static struct stats_line line;
	char text[512];
	unsigned rounds = 7;
	const char *program = target_arguments(argc, argv, &rounds);
	rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
	printf("adopt: %d sessions; milliseconds from exec to an answer, and until all are running; ratio to an empty start\n"
	       "history       empty  answers  running    worst   ratio\n",
		SESSIONS);
	run_case("prompt", program,
		"#!/bin/sh\nexport TERM=xterm PS1='READY ' PROMPT_COMMAND= HISTFILE=\n"
		"exec bash --norc --noprofile -i\n",
		rounds, &line);
	snprintf(text, sizeof text,
		"#!/bin/sh\nhead -c %u /dev/zero | tr '\\0' x | fold -w 79\necho READY\nread end\n",
		FILL_BYTES);
	run_case("quarter_mib", program, text, rounds, &line);
	stats_print(&line, "adopt");
	return 0;
}
