/*
 * Memory of idle sessions beyond bash's own, and of attached clients. PSS, so that shared pages are counted once: the
 * holder's, and the growth of the server. Half of the ring's pages count in each; its memfd is shown as a check.
 */
#include "client.h"
#include "process.h"
#include "stats.h"
#include "target.h"
#include "weight.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define SESSIONS 50
#define CLIENTS 200
#define SETTLE_US 1000000

static uint8_t buffer[CLIENT_READ];

/* The baseline: as many bashes on bare PTYs. Returns the PSS of one. */
static double weigh_bare(const char *bash)
{
	pid_t pids[SESSIONS];
	double sum = 0;
	for (int i = 0; i < SESSIONS; i++) {
		int master;
		pids[i] = process_on_pty(bash, &master);
		process_expect(master, "READY");
	}
	for (int i = 0; i < SESSIONS; i++)
		sum += process_kib(pids[i], "smaps_rollup", "\nPss:");
	for (int i = 0; i < SESSIONS; i++)
		process_kill(pids[i]);
	return sum / SESSIONS;
}

/* Presence messages go to all clients: read them, so that none is blocked during the measurement. */
static void read_all(struct client **clients, int count)
{
	for (int i = 0; i < count; i++)
		while (client_read(clients[i], buffer, sizeof buffer) > 0)
			;
}

static double weigh_clients(const struct target *t)
{
	static struct client *clients[CLIENTS];
	double before = weight_server(t);
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = client_open(t->port, "m0", "", NULL);
		client_wait(clients[i]);
		fcntl(clients[i]->fd, F_SETFL, O_NONBLOCK);
		read_all(clients, i);
	}
	usleep(SETTLE_US);
	read_all(clients, CLIENTS);
	usleep(SETTLE_US);
	double after = weight_server(t);
	for (int i = 0; i < CLIENTS; i++)
		client_close(clients[i]);
	return (after - before) / CLIENTS;
}

int main(int argc, char **argv)
{
	static struct stats_line line;
	static struct target t;
	pid_t shells[SESSIONS];
	char bash[128], id[16];
	unsigned rounds = 1; /* unused: this is not noisy */
	const char *program = target_arguments(argc, argv, &rounds, 1);
	target_open(&t, program, 4ul << 20);
	target_script(&t, "bash", TARGET_BASH, bash);
	weight_warm(&t);
	double bare = weigh_bare(bash), before = weight_server(&t);
	for (int i = 0; i < SESSIONS; i++) {
		snprintf(id, sizeof id, "m%d", i);
		shells[i] = target_session(&t, id, bash);
	}
	usleep(SETTLE_US);
	double server = (weight_server(&t) - before) / SESSIONS;
	struct weights s = weight_sessions(shells, SESSIONS);
	double client = weigh_clients(&t);
	double holder = s.holders / SESSIONS, beyond = holder + server, shell = s.bashes / SESSIONS;
	printf("memory: KiB for each of %d idle sessions, beyond bash; and for each of %d clients\n"
	       "session %.1f = holder's PSS %.1f + server's growth %.1f; bash %.1f (on a bare PTY %.1f); with bash / bare %.2f\n"
	       "of it ring %.1f and control %.1f; not in it: page tables of the holder %.1f\n"
	       "client %.1f; server before any session %.0f\n",
		SESSIONS, CLIENTS, beyond, holder, server, shell, bare, (beyond + shell) / bare,
		s.ring / SESSIONS, s.control / SESSIONS, s.tables / SESSIONS, client, before);
	stats_add(&line, beyond, "session_kib");
	stats_add(&line, holder, "holder_kib");
	stats_add(&line, server, "server_kib");
	stats_add(&line, s.ring / SESSIONS, "ring_kib");
	stats_add(&line, shell, "bash_kib");
	stats_add(&line, bare, "bare_bash_kib");
	stats_add(&line, (beyond + shell) / bare, "ratio");
	stats_add(&line, client, "client_kib");
	stats_add(&line, before, "server_base_kib");
	stats_print(&line, "memory");
	target_close(&t);
	return 0;
}
