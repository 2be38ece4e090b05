/*
 * Waits: the delay between the bytes that satisfy a wait and its answer; the cost of inspecting the foreground program
 * and of reading the screen; and the CPU time of pending waits while nothing happens.
 */
#include "client.h"
#include "process.h"
#include "ring/screen/view/render.h"
#include "ring/screen/screen.h"
#include "shell/proc/foreground.h"
#include "shell/proc/peek.h"
#include "stats.h"
#include "target.h"
#include "web.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMES 200 /* per round */
#define ROUNDS_MAX 101
#define SESSIONS 100 /* with pending waits */
#define IDLE_S 5

static uint8_t buffer[CLIENT_READ];

static void send_wait(struct web *w, const char *session, const char *until)
{
	char path[64], body[512];
	snprintf(path, sizeof path, "/api/session/%s/wait", session);
	snprintf(body, sizeof body, "{\"timeoutMs\":600000,\"until\":[%s]}", until);
	web_ask(w, path, "", body);
}

/* The delay of the answer after the bytes, in microseconds; 0 if it comes first. */
static double measure_one(struct client *c, struct web *http)
{
	static const char until[] = "{\"type\":\"match\",\"pattern\":\"^[x-z]\"}";
	uint64_t shown = 0, answered = 0, before = c->bytes;
	send_wait(http, "wait", until);
	usleep(2000); /* the server has received it */
	client_type(c, "x\r", 2);
	while (shown == 0 || answered == 0) {
		struct pollfd fds[] = {{.fd = c->fd, .events = POLLIN},
			{.fd = http->fd, .events = answered ? 0 : POLLIN}};
		errno = 0;
		if (poll(fds, 2, 10000) <= 0)
			die("no answer");
		if (fds[0].revents & POLLIN) {
			client_read(c, buffer, sizeof buffer);
			if (c->bytes > before && shown == 0)
				shown = stats_now_ns();
		}
		if (fds[1].revents & POLLIN) {
			const char *answer = web_read(http);
			answered = answer ? stats_now_ns() : 0;
			if (answer && !strstr(answer, "\"match\""))
				die(answer);
		}
	}
	return answered > shown ? (double)(answered - shown) / 1000 : 0;
}

static void measure_match(const struct target *t, unsigned rounds, struct stats_line *line)
{
	static double us[TIMES], p50[ROUNDS_MAX], p99[ROUNDS_MAX];
	char script[128];
	target_script(t, "wait.sh", "#!/bin/sh\nstty -echo\necho READY\nexec cat\n", script);
	target_session(t, "wait", script);
	struct client *c = client_open(t->port, "wait", "", "READY");
	client_wait(c);
	struct web http;
	web_open(&http, t->port);
	for (unsigned round = 0; round < rounds; round++) {
		for (unsigned i = 0; i < TIMES; i++)
			us[i] = measure_one(c, &http);
		p50[round] = stats_quantile(us, TIMES, 0.5);
		p99[round] = stats_quantile(us, TIMES, 0.99);
	}
	printf("answer of a wait for text, after the bytes    p50 %8.1f us   p99 %8.1f us\n",
		stats_median(p50, rounds), stats_median(p99, rounds));
	stats_add(line, stats_median(p50, rounds), "match_p50_us");
	stats_add(line, stats_median(p99, rounds), "match_p99_us");
	web_close(&http);
	client_close(c);
}

static void measure_look(const struct target *t, struct stats_line *line)
{
	static double us[TIMES];
	char script[128];
	int master;
	struct foreground f;
	target_script(t, "look.sh", "#!/bin/sh\necho READY\ncat | sort\n", script);
	pid_t pid = process_on_pty(script, &master);
	process_expect(master, "READY");
	struct peek peek = {.holder = getenv("RINGSIDE_HOLDER")};
	const struct foreground_target target = {.peek = &peek,
		.holder = getpid(),
		.owner = geteuid(),
		.shell = pid,
		.master_fd = master};
	for (unsigned i = 0; i < TIMES; i++) {
		uint64_t start = stats_now_ns();
		foreground_look(&target, &f);
		us[i] = stats_us_since(start);
	}
	printf("inspecting a pipeline of three processes      p50 %8.1f us   p99 %8.1f us\n",
		stats_quantile(us, TIMES, 0.5), stats_quantile(us, TIMES, 0.99));
	stats_add(line, stats_quantile(us, TIMES, 0.5), "look_p50_us");
	process_kill(pid);
	close(master);
}

static void measure_screen(struct stats_line *line)
{
	static double us[TIMES];
	struct screen *s;
	if (screen_create(
		    &s, &(struct screen_options){.rows = 50, .cols = 200, .scrollback = 1000}) < 0)
		die("screen");
	for (unsigned i = 0; i < 50 * 200; i++)
		screen_feed(s, &"abc defgh ijklmno pqr"[i % 21], 1, SIZE_MAX);
	for (unsigned i = 0; i < TIMES; i++) {
		struct rendered text;
		uint64_t base = screen_dropped(s) + screen_scrollback(s), start = stats_now_ns();
		const struct render_options o = {.from = base, .to = base + 50, .max = SIZE_MAX};
		if (render_lines(s, RENDER_TEXT, &o, &text) < 0 || text.length < 9000)
			die("text");
		us[i] = stats_us_since(start);
		free(text.bytes);
	}
	printf("text of a screen of 200 x 50                  p50 %8.1f us   p99 %8.1f us\n",
		stats_quantile(us, TIMES, 0.5), stats_quantile(us, TIMES, 0.99));
	stats_add(line, stats_quantile(us, TIMES, 0.5), "screen_p50_us");
	screen_destroy(s);
}

static double idle_cpu(const struct target *t)
{
	double before = process_cpu(t->pid);
	sleep(IDLE_S);
	return (process_cpu(t->pid) - before) * 100 / IDLE_S;
}

static void measure_idle(const struct target *t, struct stats_line *line)
{
	static const char text[] = "{\"type\":\"match\",\"pattern\":\"never\"},{\"type\":\"exit\"}";
	static const char input[] = "{\"type\":\"input\",\"kind\":\"password\"}";
	static struct web webs[2][SESSIONS];
	char id[32], script[128];
	target_script(t, "idle.sh", "#!/bin/sh\nexec sleep 1000\n", script);
	for (int i = 0; i < SESSIONS; i++) {
		snprintf(id, sizeof id, "idle%d", i);
		target_session(t, id, script);
	}
	sleep(2);
	double none = idle_cpu(t), some[2];
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < SESSIONS; i++) {
			snprintf(id, sizeof id, "idle%d", i);
			web_open(&webs[k][i], t->port);
			send_wait(&webs[k][i], id, k ? input : text);
		}
		sleep(8); /* a program is inspected less often the longer it is quiet */
		some[k] = idle_cpu(t);
	}
	printf("CPU of %d idle sessions: %.2f %%, with a wait for text each: %.2f %%, and for input: %.2f %%\n",
		SESSIONS, none, some[0], some[1]);
	stats_add(line, none, "idle_cpu_percent");
	stats_add(line, some[0], "idle_match_cpu_percent");
	stats_add(line, some[1], "idle_input_cpu_percent");
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < SESSIONS; i++)
			web_close(&webs[k][i]);
}

int main(int argc, char **argv)
{
	unsigned rounds = 5;
	struct target t;
	static struct stats_line line;
	const char *program = target_arguments(argc, argv, &rounds, ROUNDS_MAX);
	target_open(&t, program, 1 << 20);
	measure_match(&t, rounds, &line);
	measure_look(&t, &line);
	measure_screen(&line);
	measure_idle(&t, &line);
	stats_print(&line, "wait");
	target_close(&t);
	return 0;
}
