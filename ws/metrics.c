/* The page of counters. What is summed is looked up when it is asked for. */
#include "ws/metrics.h"

#include "shell/descriptors.h"
#include "shell/files/crew.h"
#include "shell/memory_stream.h"
#include "shell/process/processes.h"
#include "ws/hook/hooks.h"
#include "ws/log.h"
#include "ws/access.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static void print(FILE *f, const char *name, const char *type, const char *help, uint64_t value)
{
	fprintf(f, "# HELP ringside_%s %s\n# TYPE ringside_%s %s\nringside_%s %llu\n", name, help,
		name, type, name, (unsigned long long)value);
}

/* Sums over the sessions that there are. */
static void print_screens(FILE *f, const struct sessions *s)
{
	uint64_t checkpoints = 0, failures = 0, restarts = 0, memory = 0, unheard = 0;
	for (struct session *session = NULL; (session = session_next(s, session));) {
		if (!session_is_readable(session))
			continue;
		const struct glance g = pane_screen_summary(&session->pane);
		checkpoints += g.checkpoints;
		failures += g.checkpoint_failures;
		restarts += g.restarts;
		unheard += g.unheard;
		memory += g.memory;
	}
	print(f, "screen_checkpoints", "gauge", "Checkpoints taken of the sessions that there are",
		checkpoints);
	print(f, "screen_checkpoint_failures", "gauge", "Checkpoints that could not be taken",
		failures);
	print(f, "screen_restarts", "gauge", "Screens that had to begin anew", restarts);
	print(f, "screen_events_lost", "gauge",
		"Answers and events of screens that there was no room for", unheard);
	print(f, "screen_bytes", "gauge", "Memory of all screens", memory);
	const struct budget *b = &s->screens;
	print(f, "screen_bytes_max", "gauge", "What they may take together (--screen-memory)",
		b->limit);
	print(f, "screen_bytes_committed", "gauge",
		"Memory that the sizes of all screens need, without the lines above", b->committed);
	print(f, "screen_trims_total", "counter",
		"Times that a screen had to give up lines for others", b->trims);
	print(f, "screen_lines_given_up_total", "counter", "Lines that were given up so", b->lines);
	print(f, "screen_sizes_refused_total", "counter",
		"Sizes of screens that there was no memory for", b->sizes_refused);
}

/* Sessions of which something is still to be written down. */
static unsigned behind(const struct sessions *s)
{
	unsigned count = 0;
	for (struct session *session = NULL; (session = session_next(s, session));)
		count += session_log_is_behind(session);
	return count;
}

static unsigned held(const struct processes *t)
{
	unsigned count = 0;
	for (struct process *p = NULL; (p = process_next(t, p));)
		count += !p->let_go;
	return count;
}

/* Of malloc(): what is free has been given back to the system, or soon will be. */
static void print_heap(FILE *f)
{
#ifdef __GLIBC__
	struct mallinfo2 info = mallinfo2();
	print(f, "heap_used_bytes", "gauge", "Memory in use", info.uordblks + info.hblkhd);
	print(f, "heap_free_bytes", "gauge", "Memory between what is in use", info.fordblks);
#else
	(void)f;
#endif
}

static void print_processes(FILE *f, const struct processes *t)
{
	if (!t)
		return;
	const struct processes_counters *c = &t->counters;
	print(f, "processes", "gauge", "Processes running or kept", processes_count(t));
	print(f, "processes_running", "gauge", "Processes running", t->running);
	print(f, "processes_started_total", "counter", "Processes started", c->started);
	print(f, "processes_adopted_total", "counter", "Processes found at start", c->adopted);
	print(f, "processes_ended_total", "counter", "Processes that ended", c->ended);
	print(f, "processes_killed_total", "counter", "Processes ended on request", c->killed);
	print(f, "processes_timed_out_total", "counter", "Processes ended by their time limit",
		c->timed_out);
	print(f, "processes_removed_total", "counter", "Processes forgotten", c->removed);
	print(f, "process_start_failures_total", "counter", "Processes that could not be started",
		c->start_failures);
	print(f, "process_holders_lost_total", "counter", "Holders of processes that died",
		c->holders_lost);
	print(f, "process_holders_regained_total", "counter",
		"Holders of processes that another process had attached to, taken back",
		c->holders_regained);
	print(f, "process_holders", "gauge", "Processes that have a holder", held(t));
	print(f, "process_keep_failures_total", "counter",
		"Times that the output of an ended process could not be moved to a file",
		c->keep_failures);
	print(f, "process_output_bytes_total", "counter", "Bytes of output of processes",
		c->bytes_out);
	print(f, "process_input_bytes_total", "counter", "Bytes of input of processes", c->bytes_in);
}

/* One of each kind, whether or not there is anything to be told. */
static void print_quotas(FILE *f, const struct quotas *q)
{
	fputs("# HELP ringside_quota_had What links have of what is counted\n"
	      "# TYPE ringside_quota_had gauge\n",
		f);
	for (int i = 0; i < QUOTA_KINDS; i++)
		fprintf(f, "ringside_quota_had{kind=\"%s\"} %u\n", quota_name((enum quota_kind)i),
			q->had[i]);
	fputs("# HELP ringside_quota_refused_total Times that a link, or all links, had as many as they may\n"
	      "# TYPE ringside_quota_refused_total counter\n",
		f);
	for (int i = 0; i < QUOTA_KINDS; i++)
		fprintf(f, "ringside_quota_refused_total{kind=\"%s\"} %llu\n",
			quota_name((enum quota_kind)i), (unsigned long long)q->refused[i]);
}

static void print_access(FILE *f, const struct access *a)
{
	if (!a)
		return;
	print(f, "answer_bytes", "gauge", "Memory of answers that wait to be sent", a->answers);
	print_quotas(f, &a->quotas);
}

static void print_crew(FILE *f, struct crew *c)
{
	struct crew_counts n;
	if (!c)
		return;
	crew_get_counts(c, &n);
	print(f, "file_threads", "gauge", "Threads for work at files", n.threads);
	print(f, "file_threads_busy", "gauge", "Those that are at work", n.at_work);
	print(f, "file_threads_stuck", "gauge", "Those whose disk has not answered for seconds",
		n.stuck);
	print(f, "file_jobs_waiting", "gauge", "Work at files that waits for a thread", n.waiting);
	print(f, "file_jobs_stuck_total", "counter", "Times that a disk did not answer for seconds",
		n.stuck_total);
	print(f, "file_jobs_refused_total", "counter",
		"Work at files that was refused, for too much waited or was stuck", n.refused_total);
}

static void print_hooks(FILE *f, struct hooks *h)
{
	struct backlog_counts n;
	if (!hooks_look(h, &n))
		return;
	print(f, "webhook_events_waiting", "gauge", "Events that webhooks have not got yet",
		n.waiting);
	print(f, "webhook_events_total", "counter", "Events for webhooks, once for each webhook",
		n.told);
	print(f, "webhook_events_arrived_total", "counter", "Those that have arrived", n.arrived);
	print(f, "webhook_events_dropped_total", "counter",
		"Those that there was no room for, or that were not wanted", n.dropped);
	print(f, "webhook_events_merged_total", "counter",
		"Bells and notifications that were told with one before", n.merged);
	print(f, "webhook_events_given_up_total", "counter",
		"Those that were refused, or tried too often or for too long", n.given_up);
	print(f, "webhook_tries_total", "counter", "Requests to webhooks", n.tries);
	print(f, "webhook_tries_failed_total", "counter", "Requests to webhooks that failed",
		n.failed);
}

char *metrics_format(const struct metrics *m, const struct sessions *s)
{
	char *text = NULL;
	size_t length;
	FILE *f = memory_stream(&text, &length);
	if (!f)
		return NULL;
	const struct sessions_counters *c = &s->counters;
	print(f, "sessions", "gauge", "Sessions in the table", sessions_count(s));
	print(f, "clients", "gauge", "Terminal sockets open", m->clients);
	print(f, "control_sockets", "gauge", "Control sockets open", m->control_sockets);
	print(f, "rpc_sockets", "gauge", "Sockets of /rpc open", m->rpc_sockets);
	print(f, "streams", "gauge", "Streams of events open", m->streams);
	print(f, "http1_connections", "gauge",
		"Connections of HTTP/1.1, WebSockets over TLS, and those that have said nothing yet",
		m->callers);
	print(f, "silent_connections", "gauge",
		"Connections that have said nothing yet, or are within a handshake of TLS",
		m->callers_silent);
	print(f, "strangers", "gauge", "Connections by TCP on which nobody has said yet who asks",
		m->strangers);
	print(f, "body_bytes", "gauge", "Memory of bodies that are being received", m->body_bytes);
	print(f, "runs_active", "gauge", "Commands that run on their own", m->runs_active);
	print(f, "sessions_created_total", "counter", "Sessions created", c->created);
	print(f, "sessions_adopted_total", "counter", "Sessions found running at start", c->adopted);
	print(f, "sessions_ended_total", "counter", "Sessions ended on request", c->ended);
	print(f, "sessions_exited_total", "counter", "Sessions whose shell ended", c->exited);
	print(f, "shells_restarted_total", "counter",
		"Shells that ended and were followed by another", c->shells_restarted);
	print(f, "holders_lost_total", "counter", "Holders that died", c->holders_lost);
	print(f, "holders_regained_total", "counter",
		"Holders that another process had attached to, taken back", c->holders_regained);
	print(f, "session_start_failures_total", "counter", "Sessions that could not be started",
		c->start_failures);
	print(f, "output_bytes_total", "counter", "Bytes of terminal output consumed", c->bytes_out);
	print(f, "input_bytes_total", "counter", "Bytes of input written", c->panes.bytes_in);
	print(f, "execs_total", "counter", "Commands in shells of sessions that are over",
		s->executors.ended);
	print(f, "execs_not_kept_total", "counter",
		"Times that such a command could not be written down", s->executors.not_kept);
	print(f, "logs_behind", "gauge",
		"Sessions with commands that are written down as soon as there is room", behind(s));
	print(f, "input_refused_total", "counter", "Input refused because too much was waiting",
		c->panes.input_refused);
	print(f, "queries_answered_total", "counter", "Terminal queries answered",
		c->queries_answered);
	print(f, "replies_lost_total", "counter", "Answers that a session could not take",
		c->replies_lost);
	print(f, "log_lines_dropped_total", "counter", "Log lines that nobody read", log_dropped());
	print(f, "open_fds", "gauge", "Descriptors open", descriptors_open());
	print(f, "few_fds", "gauge", "Whether few descriptors are left", s->few_descriptors);
	print(f, "max_fds", "gauge", "Descriptors that may be open", descriptors_limit());
	print(f, "draining", "gauge", "Whether nothing new begins here (ringside drain)",
		s->draining);
	print_screens(f, s);
	print_processes(f, m->processes);
	print_access(f, m->access);
	print_crew(f, m->crew);
	print_hooks(f, m->hooks);
	print_heap(f);
#define METRICS_PRINT(name, help) print(f, #name "_total", "counter", help, m->name);
	METRICS_LIST(METRICS_PRINT)
#undef METRICS_PRINT
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
