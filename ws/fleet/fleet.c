#include "ws/fleet/fleet.h"

#include "shell/cluster/member.h"
#include "shell/session/type.h"
#include "ws/fleet/follow.h"
#include "ws/fleet/gather.h"
#include "ws/fleet/logouts.h"
#include "ws/fleet/node_call.h"
#include "ws/fleet/routed_terminal.h"
#include "ws/fleet/router.h"
#include "ws/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 10u
#define WATCH_MS 500u /* between looks for nodes that requests wait for in vain */

struct fleet {
	struct fleet_options options;
	struct member *member;
	struct held_observer of_sessions, of_processes;
	struct node_calls *calls;
	struct routings routings;
	struct router router;
	struct gathers gathers;
	struct follows follows;
	struct node_sockets *sockets;
	struct routed_terminals terminals;
	struct logouts logouts;
	unsigned ticks;
	struct api_fleet of_api;
	char url[NODES_URL_SIZE];
	uv_timer_t timer;
	bool joined; /* fleet_join() has been called */
};

/* Objects of this node */

static void on_session_added(void *user, const char *id)
{
	struct fleet *f = user;
	member_add(f->member, OBJECT_SESSION, id);
}

static void on_session_removed(void *user, const char *id)
{
	struct fleet *f = user;
	member_remove(f->member, OBJECT_SESSION, id);
}

static void on_process_added(void *user, const char *id)
{
	struct fleet *f = user;
	member_add(f->member, OBJECT_PROCESS, id);
}

static void on_process_removed(void *user, const char *id)
{
	struct fleet *f = user;
	member_remove(f->member, OBJECT_PROCESS, id);
}

/* What the member asks and tells */

static unsigned load_of_machine(void)
{
	double loads[1] = {0};
	return getloadavg(loads, 1) == 1 && loads[0] > 0 ? (unsigned)(loads[0] * 100) : 0;
}

static void fill_report(void *user, struct node_report *report)
{
	const struct fleet *f = user;
	const struct api *a = f->options.api;
	const struct sessions *s = f->options.sessions;
	*report = (struct node_report){.sessions = sessions_count(s),
		.max_sessions = s->config.max_sessions,
		.processes = f->options.processes->running,
		.load = load_of_machine(),
		.changes = a->list_version,
		.draining = s->draining || (a->ending && *a->ending)};
}

static bool exists(void *user, const struct object_id *object)
{
	const struct fleet *f = user;
	return routing_is_here(&f->routings, object);
}

static void log_object(
	enum log_level level, const char *what, const struct object_id *o, const char *owner)
{
	log_write(level, "fleet", what, object_kind_name(o->kind), o->id, owner ? "node" : NULL,
		owner, NULL);
}

static void on_forgotten(void *user, const struct object_id *o)
{
	const struct fleet *f = user;
	struct session *s;
	struct process *p;
	log_object(LOG_WARN, "ended, because it was forgotten while this node was away", o, NULL);
	if (o->kind == OBJECT_SESSION && (s = sessions_find(f->options.sessions, o->id)))
		sessions_end(f->options.sessions, s, NULL);
	if (o->kind == OBJECT_PROCESS && (p = processes_find(f->options.processes, o->id)))
		processes_remove(p, PROCESSES_GRACE_MS, NULL);
}

static void on_conflict(void *user, const struct object_id *o, const char *owner)
{
	(void)user;
	log_object(LOG_ERROR, "another node has the id: here it is reached with ?node= only", o,
		owner);
}

static void on_changed(void *user, bool connected, const char *reason)
{
	(void)user;
	if (connected)
		log_write(LOG_INFO, "fleet", "the registry is connected", NULL);
	else
		log_write(
			LOG_WARN, "fleet", "the registry is not connected", "reason", reason, NULL);
}

static void on_watch(void *user, int error, const struct node *nodes, size_t count);

static void on_joined(void *user, int error)
{
	struct fleet *f = user;
	if (error == 0) {
		log_write(LOG_INFO, "fleet", "joined", "node", f->options.node, "url", f->url, NULL);
		/* From now on it is known where the others are, if the registry goes away. */
		nodes_list(member_nodes(f->member), on_watch, f);
		return;
	}
	f->options.refused(f->options.user,
		error == -EADDRINUSE
			? "another living node of the fleet has this name"
			: "the registry belongs to another fleet: node.json in the runtime directory has another secret");
}

static const struct member_callbacks member_callbacks = {.fill = fill_report,
	.exists = exists,
	.forgotten = on_forgotten,
	.conflict = on_conflict,
	.changed = on_changed,
	.joined = on_joined};

/* What the API asks */

static json_t *node_json(const struct fleet *f, const struct node *n)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:i, s:i, s:i, s:f, s:b}", "name", n->name,
		"state", n->lives ? "alive" : "unreachable", "url", n->url, "version", n->version,
		"self", strcmp(n->name, f->options.node) == 0, "sessions", (int)n->report.sessions,
		"maxSessions", (int)n->report.max_sessions, "processes", (int)n->report.processes,
		"load", n->report.load / 100.0, "draining", (int)n->report.draining);
}

/* A request for the nodes. */
struct listing {
	struct fleet *fleet;
	struct request *request; /* our reference */
};

static void on_nodes(void *user, int error, const struct node *nodes, size_t count)
{
	struct listing *l = user;
	struct request *r = l->request;
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, node_json(l->fleet, &nodes[i]));
	r->gone = NULL;
	if (r->transport)
		reply_success(r,
			json_pack("{s:o, s:{s:b}}", "nodes", list, "registry", "connected",
				error == 0 && member_is_connected(l->fleet->member)));
	else
		json_decref(list);
	request_unref(r);
	free(l);
}

static void list_nodes(void *user, struct request *r)
{
	struct fleet *f = user;
	struct nodes *nodes = member_nodes(f->member);
	struct listing *l = request_alloc(r, sizeof *l);
	if (!l)
		return;
	l->fleet = f;
	l->request = request_ref(r);
	if (nodes)
		nodes_list(nodes, on_nodes, l);
	else
		on_nodes(l, -ENOTCONN, NULL, 0);
}

static void on_list_changed(void *user)
{
	struct fleet *f = user;
	follows_changed(&f->follows);
}

/* Requests that wait for a node that does not live any more */

static void lose(struct fleet *f, const char *node)
{
	router_lose(&f->router, node);
	routed_terminals_lose(&f->terminals, node);
}

static void on_watch(void *user, int error, const struct node *nodes, size_t count)
{
	struct fleet *f = user;
	for (size_t i = 0; error == 0 && i < count; i++)
		if (!nodes[i].lives)
			lose(f, nodes[i].name);
}

static void on_timer(uv_timer_t *timer)
{
	struct fleet *f = timer->data;
	if (++f->ticks % 2 == 0)
		logouts_turn(&f->logouts);
	if (router_is_waiting(&f->router) || f->terminals.list)
		nodes_list(member_nodes(f->member), on_watch, f);
}

/* Life */

static void observe(struct fleet *f)
{
	f->of_sessions = (struct held_observer){
		.added = on_session_added, .removed = on_session_removed, .user = f};
	f->of_processes = (struct held_observer){
		.added = on_process_added, .removed = on_process_removed, .user = f};
	held_observe(&f->options.sessions->held, &f->of_sessions);
	held_observe(&f->options.processes->held, &f->of_processes);
}

int fleet_open(const struct fleet_options *o, struct fleet **ret_fleet)
{
	struct fleet *f = calloc(1, sizeof *f);
	if (!f)
		return -ENOMEM;
	f->options = *o;
	int rc = member_open(&(struct member_options){.loop = o->loop,
				     .servers = o->servers,
				     .creds = o->creds,
				     .node = o->node,
				     .version = o->version,
				     .runtime_fd = o->runtime_fd,
				     .callbacks = &member_callbacks,
				     .user = f},
		&f->member);
	f->calls = rc == 0 ? node_calls_open(o->loop, o->ca) : NULL;
	f->sockets = f->calls ? node_sockets_open(o->loop, o->ca) : NULL;
	if (!f->sockets) {
		free(f);
		return rc < 0 ? rc : -ENOMEM;
	}
	f->routings = (struct routings){.loop = o->loop,
		.member = f->member,
		.sessions = o->sessions,
		.processes = o->processes,
		.own = o->node};
	uv_timer_init(o->loop, &f->timer);
	f->timer.data = f;
	observe(f);
	*ret_fleet = f;
	return 0;
}

static void on_look(uv_timer_t *timer)
{
	(void)timer; /* it only wakes the loop */
}

const char *fleet_secret(struct fleet *f, unsigned wait_ms)
{
	uint64_t deadline_ms = uv_now(f->options.loop) + wait_ms;
	if (*member_secret(f->member))
		return member_secret(f->member);
	log_write(LOG_INFO, "fleet", "waiting for the registry", NULL);
	uv_timer_start(&f->timer, on_look, LOOK_MS, LOOK_MS);
	while (!*member_secret(f->member) && uv_now(f->options.loop) < deadline_ms)
		uv_run(f->options.loop, UV_RUN_ONCE);
	uv_timer_stop(&f->timer);
	return member_secret(f->member);
}

int fleet_join(struct fleet *f, const char *url)
{
	const struct fleet_options *o = &f->options;
	size_t length = strlen(url);
	while (length > 0 && url[length - 1] == '/')
		length--;
	if (length >= sizeof f->url)
		return -ENAMETOOLONG;
	memcpy(f->url, url, length);
	f->router = (struct router){.routings = &f->routings,
		.auth = o->auth,
		.calls = f->calls,
		.gathers = &f->gathers,
		.follows = &f->follows};
	f->gathers = (struct gathers){.loop = o->loop,
		.routings = &f->routings,
		.dispatcher = o->dispatcher,
		.auth = o->auth,
		.calls = f->calls};
	follows_open(&f->follows, &f->gathers);
	f->of_api = (struct api_fleet){
		.list_nodes = list_nodes, .changed = on_list_changed, .user = f};
	o->api->fleet = &f->of_api;
	o->dispatcher->node = o->node;
	router_open(&f->router, o->dispatcher);
	f->terminals = (struct routed_terminals){
		.routings = &f->routings, .auth = o->auth, .sockets = f->sockets};
	routed_terminals_open(&f->terminals, o->terminals);
	logouts_open(&f->logouts, member_registry(f->member), o->auth);
	f->joined = true;
	uv_timer_start(&f->timer, on_timer, WATCH_MS, WATCH_MS);
	return member_join(f->member, f->url);
}

void fleet_close(struct fleet *f)
{
	if (!f)
		return;
	if (f->joined) {
		f->options.api->fleet = NULL;
		router_close(&f->router);
		routed_terminals_close(&f->terminals);
		gathers_close(&f->gathers);
		logouts_close(&f->logouts);
		follows_close(&f->follows);
		f->routings.closed = true;
	}
	member_leave(f->member);
	uv_close((uv_handle_t *)&f->timer, NULL);
	node_calls_close(f->calls);
	node_sockets_close(f->sockets);
	member_close(f->member);
}

void fleet_free(struct fleet *f)
{
	if (!f)
		return;
	node_sockets_free(f->sockets);
	member_free(f->member);
	free(f);
}
