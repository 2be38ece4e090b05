/* Rows: many sessions and clients, with little or no activity. */
#include "load.h"
#include "noise.h"
#include "process.h"
#include "stats.h"
#include "table/rows.h"
#include "table/scene.h"
#include "weight.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define FEW 50 /* sessions for the memory of one */
#define SESSIONS 100
#define VIEWERS 10 /* per session */
#define KEYS 500
#define PACE_US 10000 /* between keys: one per second in each session */
#define IDLE 1000
#define IDLE_S 5
#define ATTACHES 100
#define SETTLE_US 1000000
#define WAIT_MS 10000

static uint8_t buffer[CLIENT_READ];

/* Permit many connections. */
static void raise_limits(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void add(struct scene *s, const char *row, const char *name, const char *unit, double value)
{
	figure_add(figures_at(&s->figures, row, name, unit, BETTER_LESS), WAY_RINGSIDE, value);
}

/* Percent of one processor. */
static double idle_percent(const struct target *t)
{
	double before = process_cpu(t->pid);
	sleep(IDLE_S);
	return (process_cpu(t->pid) - before) * 100 / IDLE_S;
}

/* Open sessions with the ordinary shell, on a server of their own. shells: space for count. */
static double open_idle(struct target *t, const char *program, pid_t *shells, unsigned count)
{
	char id[16];
	target_open(t, program, 0);
	weight_warm(t);
	double before = weight_server(t);
	for (unsigned i = 0; i < count; i++) {
		snprintf(id, sizeof id, "idle%u", i);
		shells[i] = target_session_with(t, id, "\"shell\":\"/bin/bash\"");
	}
	usleep(SETTLE_US);
	return before;
}

/* KiB per session: growth of the server, and the holder's. */
static double weigh_idle(const struct target *t, double before, const pid_t *shells, unsigned count)
{
	struct weights w = weight_sessions(shells, count);
	return (weight_server(t) - before + w.holders) / count;
}

void row_memory(struct scene *s)
{
	static struct target t;
	pid_t shells[FEW];
	double before = open_idle(&t, s->target.program, shells, FEW);
	add(s, "memory", "idle session beyond bash", "KiB", weigh_idle(&t, before, shells, FEW));
	target_close(&t);
}

void row_idle(struct scene *s)
{
	static struct target t;
	static pid_t shells[IDLE];
	double before = open_idle(&t, s->target.program, shells, IDLE);
	add(s, "idle", "1000 idle sessions, each beyond bash", "KiB",
		weigh_idle(&t, before, shells, IDLE));
	add(s, "idle", "1000 idle sessions, CPU of the server", "%", idle_percent(&t));
	target_close(&t);
}

/* The viewers, and the bytes read from them. */
struct audience {
	struct client *clients[SESSIONS][VIEWERS];
	int epoll;
};

static void read_some(struct audience *a, int wait_ms)
{
	struct epoll_event events[64];
	int n = epoll_wait(a->epoll, events, 64, wait_ms);
	for (int i = 0; i < n; i++)
		client_read(events[i].data.ptr, buffer, sizeof buffer);
	errno = 0;
}

static void seat_audience(struct audience *a, const struct scene *s)
{
	char script[128], id[16];
	a->epoll = epoll_create1(EPOLL_CLOEXEC);
	target_script(&s->target, "cat", "#!/bin/sh\necho READY\nexec cat\n", script);
	for (unsigned i = 0; i < SESSIONS; i++) {
		snprintf(id, sizeof id, "seen%u", i);
		target_session(&s->target, id, script);
		for (unsigned k = 0; k < VIEWERS; k++) {
			struct client *c = client_open(s->target.port, id, "", NULL);
			struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
			client_wait(c);
			fcntl(c->fd, F_SETFL, O_NONBLOCK);
			if (epoll_ctl(a->epoll, EPOLL_CTL_ADD, c->fd, &e) < 0)
				die("epoll_ctl");
			a->clients[i][k] = c;
		}
	}
	uint64_t end = stats_now_ns() + SETTLE_US * 1000ull;
	while (stats_now_ns() < end)
		read_some(a, 10);
}

/* Type a key and wait until the last viewer has its echo; the typist has it before. */
static double show_key(struct audience *a, unsigned session, const char *key)
{
	struct client **all = a->clients[session];
	double us = 0;
	unsigned seen = 0;
	uint64_t bytes[VIEWERS], start = stats_now_ns();
	for (unsigned k = 0; k < VIEWERS; k++)
		bytes[k] = all[k]->bytes;
	client_type(all[0], key, 1);
	while (seen < VIEWERS) {
		errno = 0;
		if (stats_now_ns() - start > WAIT_MS * 1000000ull)
			die("no echo");
		read_some(a, WAIT_MS);
		if (us == 0 && all[0]->bytes > bytes[0])
			us = stats_us_since(start);
		seen = 0;
		for (unsigned k = 0; k < VIEWERS; k++)
			seen += all[k]->bytes > bytes[k];
	}
	return us;
}

void row_viewers(struct scene *s)
{
	static struct audience a;
	static double us[KEYS];
	char id[16];
	raise_limits();
	seat_audience(&a, s);
	double cpu = process_cpu(s->target.pid);
	uint64_t start = stats_now_ns();
	for (unsigned i = 0; i < KEYS; i++) {
		char key[2] = {(char)('a' + i / SESSIONS), '\0'};
		us[i] = show_key(&a, i % SESSIONS, key);
		while (stats_now_ns() < start + (i + 1) * PACE_US * 1000ull)
			read_some(&a, 1);
	}
	double seconds = (double)(stats_now_ns() - start) / 1e9;
	add(s, "viewers", "100 sessions x 10 viewers, CPU of the server", "%",
		(process_cpu(s->target.pid) - cpu) * 100 / seconds);
	scene_add_times(s, "viewers", "100 sessions x 10 viewers, echo", WAY_RINGSIDE, us, KEYS);
	for (unsigned i = 0; i < SESSIONS; i++) {
		for (unsigned k = 0; k < VIEWERS; k++)
			client_close(a.clients[i][k]);
		snprintf(id, sizeof id, "seen%u", i);
		target_delete(&s->target, id);
	}
	close(a.epoll);
}

void row_attach(struct scene *s)
{
	double us[ATTACHES];
	char script[128], text[256];
	struct load l = {.name = "attach", .stream = STREAM_TEXT, .times = 1, .modes = "sane"};
	load_make(&s->target, &l); /* makes the file */
	snprintf(text, sizeof text, "#!/bin/sh\necho READY\nread go\nwhile cat %s/%s; do :; done\n",
		s->target.dir, stream_name(l.stream));
	target_script(&s->target, "for_ever", text, script);
	struct path p = path_session(&s->target, "flood", script);
	pid_t noise = noise_start(&p, 1);
	for (unsigned i = 0; i < ATTACHES; i++) {
		uint64_t start = stats_now_ns();
		struct path more = path_viewer(&s->target, "flood", "");
		us[i] = stats_us_since(start);
		path_close(&more);
	}
	noise_end(noise, &p, 1);
	scene_add_times(s, "attach", "attach during a flood", WAY_RINGSIDE, us, ATTACHES);
}
