/*
 * Memory of idle sessions beyond bash's own, and of attached clients. PSS, so that what is shared is
 * counted once: the holder's, and what the server has grown by. The ring's pages are in both, in halves;
 * its memfd is shown beside them to prove that none are missed.
 */
#include "client.h"
#include "process.h"
#include "stats.h"
#include "target.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define SESSIONS 50
#define CLIENTS 200
#define SETTLE_US 1000000

static uint8_t buffer[CLIENT_READ];

static double server_pss(const struct target *t)
{
	return process_kib(t->pid, "smaps_rollup", "\nPss:");
}

/* Sums over all sessions, in KiB. */
struct sums {
	double holders, bashes, ring, control, tables;
};

static struct sums weigh(const pid_t *shells)
{
	struct sums s = {0};
	for (int i = 0; i < SESSIONS; i++) {
		pid_t holder = process_parent(shells[i]);
		s.holders += process_kib(holder, "smaps_rollup", "\nPss:");
		s.bashes += process_kib(shells[i], "smaps_rollup", "\nPss:");
		s.ring += process_memfd_kib(holder, "ringside-ring");
		s.control += process_memfd_kib(holder, "ringside-control");
		s.tables += process_kib(holder, "status", "\nVmPTE:");
	}
	return s;
}

/* Bashes on bare PTYs, as many: the baseline. Returns the PSS of one. */
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

/* Presence goes to everybody: nobody may be choked when it is measured. */
static void read_all(struct client **clients, int count)
{
	for (int i = 0; i < count; i++)
		while (client_read(clients[i], buffer, sizeof buffer) > 0)
			;
}

static double weigh_clients(const struct target *t)
{
	static struct client *clients[CLIENTS];
	double before = server_pss(t);
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = client_open(t->port, "m0", "", NULL);
		client_wait(clients[i]);
		fcntl(clients[i]->fd, F_SETFL, O_NONBLOCK);
		read_all(clients, i);
	}
	usleep(SETTLE_US);
	read_all(clients, CLIENTS);
	usleep(SETTLE_US);
	double after = server_pss(t);
	for (int i = 0; i < CLIENTS; i++)
		client_close(clients[i]);
	return (after - before) / CLIENTS;
}

int main(int argc, char **argv)
{
	static struct stats_line line;
	static struct target t;
	pid_t shells[SESSIONS];
	char bash[128], id[16], answer[4096];
	unsigned rounds = 1; /* of no use here: this is not noisy */
	const char *program = target_arguments(argc, argv, &rounds);
	target_open(&t, program, 4ul << 20);
	target_script(&t, "bash",
		"#!/bin/sh\nexport TERM=xterm PS1='READY ' PROMPT_COMMAND= HISTFILE=\n"
		"exec bash --norc --noprofile -i\n",
		bash);
	/* What the first request of all makes the server load is not a session's. */
	target_http(&t, "GET /api/session/list", NULL, answer, sizeof answer);
	double bare = weigh_bare(bash), before = server_pss(&t);
	for (int i = 0; i < SESSIONS; i++) {
		snprintf(id, sizeof id, "m%d", i);
		shells[i] = target_session(&t, id, bash);
	}
	usleep(SETTLE_US);
	double server = (server_pss(&t) - before) / SESSIONS;
	struct sums s = weigh(shells);
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
