/*
 * Memory of a server under light work: sessions with commands, screens that are read, viewers, processes, and sessions
 * that end and are replaced, all as fast as possible. The size is printed before, after each round, and after
 * everything has been deleted: it should rise to a level, stay there, and come back.
 */
#include "client.h"
#include "process.h"
#include "stats.h"
#include "target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SESSIONS 50
#define REPLACED 5 /* sessions per round */
#define LINES 10   /* of the table */
#define SETTLE_S 6
#define SETTLED_KIB 1024.0

static char answer[1 << 20];

static void ask(const struct target *t, const char *request, const char *body)
{
	int status = target_http(t, request, body, answer, sizeof answer);
	errno = 0;
	if (status != 200) {
		fprintf(stderr, "%s %s\n", request, body ? body : "");
		die(answer);
	}
}

static void create(const struct target *t, const char *id)
{
	char body[128];
	snprintf(body, sizeof body, "{\"id\":\"%s\",\"cols\":120,\"rows\":40}", id);
	ask(t, "POST /api/session/create", body);
}

static void execute(const struct target *t, const char *id, const char *command, bool pipes)
{
	char request[128], body[512];
	snprintf(request, sizeof request, "POST /api/session/%s/exec", id);
	snprintf(body, sizeof body, "{\"command\":\"%s\",\"queue\":true,\"streams\":\"%s\"}",
		command, pipes ? "pipes" : "terminal");
	ask(t, request, body);
}

/* A viewer that attaches, gets the screen, and detaches. */
static void view(const struct target *t, const char *id)
{
	struct client *c = client_open(t->port, id, "", NULL);
	client_wait(c);
	client_close(c);
}

/* One round of work in a session. */
static void work(const struct target *t, const char *id, unsigned round, unsigned n)
{
	char text[256];
	snprintf(text, sizeof text, "seq %u", 10 + (round * 37 + n * 101) % 400);
	execute(t, id, text, false);
	if ((round + n) % 3 == 0)
		execute(t, id, "ls -l /usr/bin | head -50; echo done", true);
	if ((round + n) % 4 == 0)
		execute(t, id,
			"for i in {1..60}; do printf '\\\\e[38;5;%dm%s \\\\e[0m' $i $RANDOM; done; echo",
			false);
	snprintf(text, sizeof text, "GET /api/session/%s/screen", id);
	ask(t, text, NULL);
	if ((round + n) % 2 == 0)
		view(t, id);
	if (n % 10 == round % 10) {
		ask(t, "POST /api/process/start", "{\"command\":\"seq 1 3000\"}");
		ask(t, "POST /api/run", "{\"command\":\"seq 1 3000\"}");
	}
}

static double rss(const struct target *t)
{
	return process_kib(t->pid, "smaps_rollup", "\nRss:");
}

static double pss(const struct target *t)
{
	return process_kib(t->pid, "smaps_rollup", "\nPss:");
}

static void print_memory(const struct target *t, const char *when, double before)
{
	printf("%-12s rss %7.0f  pss %7.0f  for each session %6.1f\n", when, rss(t), pss(t),
		(rss(t) - before) / SESSIONS);
	fflush(stdout);
}

static void delete_all(const struct target *t, const unsigned *serial)
{
	char id[32], request[64];
	for (unsigned n = 0; n < SESSIONS; n++) {
		snprintf(id, sizeof id, "w%u.%u", n, serial[n]);
		target_delete(t, id);
	}
	ask(t, "GET /api/process/list", NULL);
	static char list[sizeof answer];
	memcpy(list, answer, sizeof list);
	for (const char *at = list; (at = strstr(at, "\"id\":\"")); at++) {
		snprintf(request, sizeof request, "DELETE /api/process/%.*s?remove=true",
			(int)strcspn(at + 6, "\""), at + 6);
		ask(t, request, NULL);
	}
}

int main(int argc, char **argv)
{
	static struct stats_line line;
	static struct target t;
	unsigned rounds = 20, serial[SESSIONS] = {0};
	char id[32];
	target_open(&t, target_arguments(argc, argv, &rounds, UINT_MAX), 4ul << 20);
	/* Let the server load what its first request needs: that does not count. */
	create(&t, "first");
	execute(&t, "first", "true", false);
	view(&t, "first");
	target_delete(&t, "first");
	double before = rss(&t), middle = 0, peak = 0;
	printf("work: KiB of the server with %d sessions\n", SESSIONS);
	print_memory(&t, "before", before);
	for (unsigned n = 0; n < SESSIONS; n++) {
		snprintf(id, sizeof id, "w%u.0", n);
		create(&t, id);
	}
	print_memory(&t, "idle", before);
	double idle = rss(&t);
	for (unsigned round = 0; round < rounds; round++) {
		for (unsigned n = 0; n < SESSIONS; n++) {
			snprintf(id, sizeof id, "w%u.%u", n, serial[n]);
			if ((n + round * REPLACED) % SESSIONS < REPLACED) {
				target_delete(&t, id);
				snprintf(id, sizeof id, "w%u.%u", n, ++serial[n]);
				create(&t, id);
			}
			work(&t, id, round, n);
		}
		double now = rss(&t);
		peak = now > peak ? now : peak;
		middle = round == rounds / 2 ? now : middle;
		snprintf(id, sizeof id, "round %u", round + 1);
		if (round % ((rounds + LINES - 1) / LINES) == 0 || round + 1 == rounds)
			print_memory(&t, id, before);
	}
	double last = rss(&t);
	delete_all(&t, serial);
	print_memory(&t, "deleted", before);
	for (unsigned i = 0; i < SETTLE_S && rss(&t) > before + SETTLED_KIB; i++)
		sleep(1);
	print_memory(&t, "at rest", before);
	stats_add(&line, before, "before_kib");
	stats_add(&line, idle, "idle_kib");
	stats_add(&line, middle, "middle_kib");
	stats_add(&line, last, "last_kib");
	stats_add(&line, peak, "peak_kib");
	stats_add(&line, rss(&t), "rest_kib");
	stats_add(&line, (peak - before) / SESSIONS, "session_kib");
	stats_print(&line, "work");
	target_close(&t);
	return 0;
}
