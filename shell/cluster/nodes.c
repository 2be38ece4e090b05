#include "shell/cluster/nodes.h"

#include "shell/json_read.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* How far this node has come. */
enum joining {
	JOIN_DUE,   /* read the node's key */
	JOIN_CHECK, /* it is another instance's: see whether that lives */
	JOIN_WRITE, /* write the key */
	JOIN_DONE,
	JOIN_REFUSED,
};

/* A request for the list. */
struct waiter {
	struct waiter *prev, *next;
	nodes_fn *fn;
	void *user;
	uint64_t since_ms;
};

struct nodes {
	struct nodes_options options;
	enum joining joining;
	uint64_t revision; /* of the node's key, as read */
	bool join_out, report_out, left;
	uint64_t join_due_ms, report_due_ms;
	/* The list. */
	struct node *all; /* owned, sorted by name */
	size_t count;
	uint64_t read_ms;     /* when it was complete; 0: never */
	struct node *reading; /* the next one, while it is read */
	size_t reading_count;
	bool list_out;
	struct waiter *waiters;
	unsigned connections; /* of the reports' bucket, as last seen */
	uint64_t grace_ms;    /* up to then a node that does not report still lives */
};

static uint64_t now(const struct nodes *n)
{
	return n->options.now_ms(n->options.user);
}

/* A call has failed, or the next step is due. */
static void join_later(struct nodes *n, unsigned ms)
{
	n->join_out = false;
	n->join_due_ms = now(n) + ms;
}

static void conclude(struct nodes *n, enum joining joining, int error)
{
	n->join_out = false;
	n->joining = joining;
	n->report_due_ms = 0;
	n->options.joined(n->options.user, error);
}

static void step(struct nodes *n, enum joining joining)
{
	n->joining = joining;
	join_later(n, 0);
	nodes_turn(n);
}

static void on_key(void *user, const struct bucket_answer *a)
{
	struct nodes *n = user;
	if (a->error < 0 && a->error != -ENOENT) {
		join_later(n, NODES_RETRY_MS);
		return;
	}
	n->revision = a->error < 0 ? BUCKET_ABSENT : a->revision;
	if (a->error == 0 && strcmp(a->value, n->options.instance) == 0)
		conclude(n, JOIN_DONE, 0);
	else
		step(n, a->error < 0 ? JOIN_WRITE : JOIN_CHECK);
}

static void on_other_report(void *user, const struct bucket_answer *a)
{
	struct nodes *n = user;
	if (a->error == 0)
		conclude(n, JOIN_REFUSED, -EADDRINUSE);
	else if (a->error == -ENOENT)
		step(n, JOIN_WRITE);
	else
		join_later(n, NODES_RETRY_MS);
}

static void on_key_written(void *user, const struct bucket_answer *a)
{
	struct nodes *n = user;
	if (a->error == 0) {
		conclude(n, JOIN_DONE, 0);
	} else {
		n->joining = JOIN_DUE; /* another node was faster, or the outcome is unknown */
		join_later(n, a->error == -EEXIST ? 0 : NODES_RETRY_MS);
	}
}

static void join(struct nodes *n)
{
	char key[BUCKET_KEY_SIZE];
	struct bucket *b = n->options.registry;
	int rc;
	n->join_out = true;
	if (n->joining == JOIN_CHECK) {
		key_of_name(n->options.name, key);
		rc = bucket_get(n->options.reports, key, on_other_report, n);
	} else {
		key_of_node(n->options.name, key);
		rc = n->joining == JOIN_DUE
			? bucket_get(b, key, on_key, n)
			: bucket_put(b, key, n->options.instance, n->revision, on_key_written, n);
	}
	if (rc < 0)
		join_later(n, NODES_RETRY_MS);
}

static void on_reported(void *user, const struct bucket_answer *a)
{
	struct nodes *n = user;
	(void)a; /* the next one is sent anyway */
	n->report_out = false;
}

static char *report_text(const struct nodes *n)
{
	struct node_report r = {0};
	n->options.fill(n->options.user, &r);
	json_t *json = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:I, s:b}", "url",
		n->options.url, "version", n->options.version, "instance", n->options.instance,
		"sessions", (int)r.sessions, "maxSessions", (int)r.max_sessions, "processes",
		(int)r.processes, "load", (int)r.load, "changes", (json_int_t)r.changes, "draining",
		(int)r.draining);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	return text;
}

static void send_report(struct nodes *n)
{
	char key[BUCKET_KEY_SIZE];
	char *text = report_text(n);
	n->report_due_ms = now(n) + NODES_REPORT_MS;
	key_of_name(n->options.name, key);
	if (text && strlen(text) <= BUCKET_VALUE_MAX)
		n->report_out = bucket_put(n->options.reports, key, text, BUCKET_ANY, on_reported,
					n) == 0;
	free(text);
}

void nodes_report(struct nodes *n)
{
	n->report_due_ms = 0;
	nodes_turn(n);
}

void nodes_leave(struct nodes *n)
{
	char key[BUCKET_KEY_SIZE];
	key_of_name(n->options.name, key);
	n->left = true;
	if (n->joining == JOIN_DONE)
		(void)bucket_remove(n->options.reports, key, BUCKET_ANY, on_reported, n);
}

void nodes_answer_late(struct nodes *n)
{
	struct waiter *w;
	uint64_t now_ms = now(n);
	while ((w = n->waiters) && now_ms - w->since_ms >= NODES_LIST_MS) {
		DL_DELETE(n->waiters, w);
		w->fn(w->user, -ENOTCONN, n->all, n->count);
		free(w);
	}
}

uint64_t nodes_turn(struct nodes *n)
{
	uint64_t now_ms = now(n);
	nodes_answer_late(n);
	if (n->left || n->joining == JOIN_REFUSED)
		return UINT64_MAX;
	if (n->joining != JOIN_DONE) {
		if (!n->join_out && n->join_due_ms <= now_ms)
			join(n);
		return n->join_out ? now_ms + NODES_RETRY_MS : n->join_due_ms;
	}
	if (!n->report_out && n->report_due_ms <= now_ms)
		send_report(n);
	return n->report_due_ms > now_ms ? n->report_due_ms : now_ms + NODES_REPORT_MS;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct node *)a)->name, ((const struct node *)b)->name);
}

/* Give the list to all that wait for it. */
static void end_list(struct nodes *n, int error)
{
	struct waiter *w, *next, *waiters = n->waiters;
	n->list_out = false;
	n->waiters = NULL;
	if (error == 0) {
		free(n->all);
		n->all = n->reading;
		n->count = n->reading_count;
		n->read_ms = now(n);
		n->reading = NULL;
	}
	free(n->reading);
	n->reading = NULL;
	DL_FOREACH_SAFE (waiters, w, next) {
		w->fn(w->user, error < 0 ? -ENOTCONN : 0, n->all, n->count);
		free(w);
	}
}

/* Copy a text of a report. Returns false if it is missing or too long. */
static bool read_text(const json_t *json, const char *name, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(json, name));
	return value && (size_t)snprintf(text, size, "%s", value) < size;
}

static unsigned read_number(const json_t *json, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(json, name));
	return value < 0 ? 0 : value > INT32_MAX ? INT32_MAX : (unsigned)value;
}

static void read_report(struct node *node, const char *text, size_t length)
{
	json_t *json = json_read(text, length, 0, NULL);
	node->lives = read_text(json, "url", node->url, sizeof node->url) &&
		read_text(json, "version", node->version, sizeof node->version);
	node->report = (struct node_report){.sessions = read_number(json, "sessions"),
		.max_sessions = read_number(json, "maxSessions"),
		.processes = read_number(json, "processes"),
		.load = read_number(json, "load"),
		.changes = (uint64_t)json_integer_value(json_object_get(json, "changes")),
		.draining = json_is_true(json_object_get(json, "draining"))};
	json_decref(json);
}

/*
 * A store that keeps reports in memory has lost them if it was started again, and the nodes report again soon: until then nodes
 * without a report are as they were.
 */
static void keep_lost(struct nodes *n)
{
	unsigned connections = n->options.reports->connections;
	if (connections != n->connections)
		n->grace_ms = now(n) + NODES_GRACE_MS;
	n->connections = connections;
	for (size_t i = 0; i < n->reading_count && now(n) < n->grace_ms; i++) {
		struct node *node = &n->reading[i];
		const struct node *last = n->all && !node->lives
			? bsearch(node, n->all, n->count, sizeof *n->all, compare)
			: NULL;
		if (last)
			*node = *last;
	}
}

static void on_reports(void *user, int error, const struct bucket_entry *entries, size_t count)
{
	struct nodes *n = user;
	struct node key;
	for (size_t i = 0; error == 0 && i < count; i++) {
		if (!key_parse_name(entries[i].key, key.name))
			continue;
		/* A node that has joined since the names were read is in the next list. */
		struct node *node = bsearch(
			&key, n->reading, n->reading_count, sizeof *n->reading, compare);
		if (node)
			read_report(node, entries[i].value, entries[i].length);
	}
	if (error == 0)
		keep_lost(n);
	end_list(n, error);
}

static void on_names(void *user, int error, const struct bucket_entry *entries, size_t count)
{
	struct nodes *n = user;
	n->reading_count = 0;
	n->reading = error < 0 ? NULL : calloc(count + 1, sizeof *n->reading);
	if (error == 0 && !n->reading)
		error = -ENOMEM;
	for (size_t i = 0; error == 0 && i < count; i++)
		n->reading_count += key_parse_node(
			entries[i].key, n->reading[n->reading_count].name);
	if (error == 0) {
		qsort(n->reading, n->reading_count, sizeof *n->reading, compare);
		error = bucket_list(n->options.reports, "", on_reports, n);
	}
	if (error < 0)
		end_list(n, error);
}

void nodes_list(struct nodes *n, nodes_fn *fn, void *user)
{
	if (n->read_ms && now(n) - n->read_ms < NODES_FRESH_MS) {
		fn(user, 0, n->all, n->count);
		return;
	}
	struct waiter *w = calloc(1, sizeof *w);
	if (!w) {
		fn(user, -ENOMEM, n->all, n->count);
		return;
	}
	w->fn = fn;
	w->user = user;
	w->since_ms = now(n);
	DL_APPEND(n->waiters, w);
	if (n->list_out)
		return;
	n->list_out = true;
	int rc = bucket_list(n->options.registry, KEY_NODE_PREFIX, on_names, n);
	if (rc < 0)
		end_list(n, rc);
}

/* How full a node is, in thousandths. Sessions that wait cost little, so the load of its processors counts too. */
static unsigned fullness(const struct node_report *r)
{
	uint64_t seats = r->max_sessions ? (uint64_t)r->sessions * 1000 / r->max_sessions : 1000;
	uint64_t load = r->load < 400 ? r->load : 400;
	return (unsigned)(seats + load * 5 / 2);
}

const struct node *nodes_choose(
	const struct node *nodes, size_t count, const char *avoid, unsigned chance)
{
	const struct node *best = NULL;
	unsigned least = UINT_MAX, equal = 0;
	for (size_t i = 0; i < count; i++) {
		const struct node_report *r = &nodes[i].report;
		if (!nodes[i].lives || r->draining || r->sessions >= r->max_sessions ||
			strcmp(nodes[i].name, avoid) == 0)
			continue;
		unsigned full = fullness(r);
		equal = full == least ? equal + 1 : full < least ? 1 : equal;
		/* Each of the equal ones so far has the same chance. */
		if (full < least || (full == least && chance % equal == 0))
			best = &nodes[i];
		least = full < least ? full : least;
	}
	return best;
}

struct nodes *nodes_open(const struct nodes_options *options)
{
	struct nodes *n = calloc(1, sizeof *n);
	if (n)
		n->options = *options;
	return n;
}

void nodes_close(struct nodes *n)
{
	if (!n)
		return;
	free(n->all);
	free(n);
}
