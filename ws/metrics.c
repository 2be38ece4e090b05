/* Formats the page of counters. Sums and gauges are computed when the page is requested. */
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

/* Sums over all sessions. */
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
	print(f, "screen_checkpoints", "gauge", "Checkpoints taken of the present sessions",
		checkpoints);
	print(f, "screen_checkpoint_failures", "gauge", "Checkpoints that could not be taken",
		failures);
	print(f, "screen_restarts", "gauge", "Screens that had to begin anew", restarts);
	print(f, "screen_events_lost", "gauge",
		"Replies and events of screens that were lost because a buffer was full", unheard);
	print(f, "screen_bytes", "gauge", "Memory of all screens", memory);
	const struct budget *b = &s->screens;
	print(f, "screen_bytes_max", "gauge",
		"Limit of the memory of all screens (--screen-memory)", b->limit);
	print(f, "screen_bytes_committed", "gauge",
		"Memory for the sizes of all screens, without scrollback", b->committed);
	print(f, "screen_trims_total", "counter",
		"Times that scrollback was dropped to free memory for other screens", b->trims);
	print(f, "screen_lines_given_up_total", "counter", "Scrollback lines dropped that way",
		b->lines);
	print(f, "screen_sizes_refused_total", "counter",
		"Sizes of screens refused for lack of memory", b->sizes_refused);
}

static unsigned count_logs_behind(const struct sessions *s)
{
	unsigned count = 0;
	for (struct session *session = NULL; (session = session_next(s, session));)
		count += session_log_is_behind(session);
	return count;
}

static unsigned count_holders(const struct processes *t)
{
	unsigned count = 0;
	for (struct process *p = NULL; (p = process_next(t, p));)
		count += process_has_holder(p);
	return count;
}

/* Statistics of malloc(). */
static void print_heap(FILE *f)
{
#ifdef __GLIBC__
	struct mallinfo2 info = mallinfo2();
	print(f, "heap_used_bytes", "gauge", "Memory in use", info.uordblks + info.hblkhd);
	print(f, "heap_free_bytes", "gauge", "Free memory in the heap", info.fordblks);
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
	print(f, "processes_adopted_total", "counter", "Processes adopted at start", c->adopted);
	print(f, "processes_ended_total", "counter", "Processes that ended", c->ended);
	print(f, "processes_killed_total", "counter", "Processes killed on request", c->killed);
	print(f, "processes_timed_out_total", "counter", "Processes killed by their time limit",
		c->timed_out);
	print(f, "processes_removed_total", "counter", "Processes removed from the list",
		c->removed);
	print(f, "process_start_failures_total", "counter", "Processes that could not be started",
		c->start_failures);
	print(f, "process_holders_lost_total", "counter", "Holders of processes that died",
		c->holders_lost);
	print(f, "process_holders_regained_total", "counter",
		"Holders of processes that another process had attached to, taken back",
		c->holders_regained);
	print(f, "process_holders", "gauge", "Processes that have a holder", count_holders(t));
	print(f, "process_keep_failures_total", "counter",
		"Times that the output of an ended process could not be moved to a file",
		c->keep_failures);
	print(f, "process_output_bytes_total", "counter", "Bytes of output of processes",
		c->bytes_out);
	print(f, "process_input_bytes_total", "counter", "Bytes of input of processes", c->bytes_in);
}

/* Every kind is printed, also with value 0. */
static void print_quotas(FILE *f, const struct quotas *q)
{
	fputs("# HELP ringside_quota_had Places of quotas that links use\n"
	      "# TYPE ringside_quota_had gauge\n",
		f);
	for (int i = 0; i < QUOTA_KINDS; i++)
		fprintf(f, "ringside_quota_had{kind=\"%s\"} %u\n", quota_name((enum quota_kind)i),
			q->had[i]);
	fputs("# HELP ringside_quota_refused_total Requests refused because a quota was used up\n"
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
	print(f, "answer_bytes", "gauge", "Memory of unsent answers", a->answers);
	print_quotas(f, &a->quotas);
}

static void print_crew(FILE *f, struct crew *c)
{
	struct crew_counts n;
	if (!c)
		return;
	crew_get_counts(c, &n);
	print(f, "file_threads", "gauge", "Threads for operations on files", n.threads);
	print(f, "file_threads_busy", "gauge", "Busy threads for files", n.at_work);
	print(f, "file_threads_stuck", "gauge",
		"Threads for files whose disk has not answered for seconds", n.stuck);
	print(f, "file_jobs_waiting", "gauge", "Operations on files that wait for a thread",
		n.waiting);
	print(f, "file_jobs_stuck_total", "counter", "Times that a disk did not answer for seconds",
		n.stuck_total);
	print(f, "file_jobs_refused_total", "counter",
		"Operations on files refused because too many waited or were stuck",
		n.refused_total);
}

static void print_hooks(FILE *f, struct hooks *h)
{
	struct backlog_counts n;
	if (!hooks_get_counts(h, &n))
		return;
	print(f, "webhook_events_waiting", "gauge", "Events that are not delivered yet", n.waiting);
	print(f, "webhook_events_total", "counter", "Events for webhooks, once for each webhook",
		n.told);
	print(f, "webhook_events_arrived_total", "counter", "Events delivered", n.arrived);
	print(f, "webhook_events_dropped_total", "counter",
		"Events dropped because a queue was full, or the receiver wants no more", n.dropped);
	print(f, "webhook_events_merged_total", "counter",
		"Bells and notifications merged into one that waited", n.merged);
	print(f, "webhook_events_given_up_total", "counter",
		"Events given up because they were refused, too old, or failed too often",
		n.given_up);
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
	print(f, "mux_sockets", "gauge", "Sockets of /ws/mux open", m->mux_sockets);
	print(f, "streams", "gauge", "Streams of events open", m->streams);
	print(f, "http1_connections", "gauge",
		"Connections of HTTP/1.1, WebSockets over TLS, and those that have sent nothing yet",
		m->http1_connections);
	print(f, "silent_connections", "gauge",
		"Connections that have sent nothing yet, or are in a TLS handshake",
		m->connections_silent);
	print(f, "strangers", "gauge", "TCP connections without credentials so far", m->strangers);
	print(f, "body_bytes", "gauge", "Memory of bodies that are being received", m->body_bytes);
	print(f, "upgrade_held_milliseconds", "gauge",
		"How long clients waited for the last upgrade", m->upgrade_held_ms);
	print(f, "runs_active", "gauge", "Commands running on their own", m->runs_active);
	print(f, "sessions_created_total", "counter", "Sessions created", c->created);
	print(f, "sessions_adopted_total", "counter", "Sessions adopted at start", c->adopted);
	print(f, "sessions_ended_total", "counter", "Sessions deleted on request", c->ended);
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
	print(f, "execs_total", "counter", "Ended commands in shells of sessions",
		s->executors.ended);
	print(f, "execs_not_kept_total", "counter", "Failures to write the record of a command",
		s->executors.not_kept);
	print(f, "logs_behind", "gauge",
		"Sessions with records that could not be written to the disk yet",
		count_logs_behind(s));
	print(f, "input_refused_total", "counter", "Input refused because too much was waiting",
		c->panes.input_refused);
	print(f, "queries_answered_total", "counter", "Terminal queries answered",
		c->queries_answered);
	print(f, "replies_lost_total", "counter",
		"Answers to queries that a session could not accept", c->replies_lost);
	print(f, "log_lines_dropped_total", "counter",
		"Log lines dropped because standard error was not read", log_dropped());
	print(f, "open_fds", "gauge", "Open descriptors", descriptors_open());
	print(f, "few_fds", "gauge", "Whether few descriptors are left", s->few_descriptors);
	print(f, "max_fds", "gauge", "Limit of open descriptors", descriptors_limit());
	print(f, "draining", "gauge", "Whether the server is draining (ringside drain)",
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
	fclose(f);
	return text;
}
