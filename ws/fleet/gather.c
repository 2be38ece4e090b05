#include "ws/fleet/gather.h"

#include "shell/clock.h"
#include "shell/json_read.h"
#include "ws/api/read/query.h"
#include "ws/auth/caller.h"
#include "ws/fleet/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define REGISTRY_MS 1000u /* for the registry to answer, after the nodes */

/* A list, and what its entries are. */
struct list_kind {
	const char *path, *array;
	enum object_kind kind;
	const char *state; /* the field that says how an entry is */
};

static const struct list_kind kinds[] = {
	{"/api/session/list", "sessions", OBJECT_SESSION, "state"},
	{"/api/process/list", "processes", OBJECT_PROCESS, "status"},
	{"/api/auth/logins", "logins", OBJECT_KINDS, NULL},
};

/* The part of one node. */
struct part {
	struct gather *gather;
	char node[KEY_NODE_MAX + 1];
	struct node_call *call; /* NULL: none, or over */
	bool waits;             /* for the node or the registry */
	bool skipped;           /* its entries are on earlier pages */
	int status;
	char *bytes; /* owned */
	size_t length, size;
	json_t *entries; /* owned; NULL: not known */
};

struct gather {
	struct gather *prev, *next;
	struct gathers *all;
	const struct list_kind *kind;
	struct request *request; /* for this node, and the model of the others' */
	struct part *parts;      /* owned */
	size_t count, waiting;
	bool begun;       /* all parts have been asked for */
	bool over;        /* fn was called, or is not to be: it waits for the registry's answers */
	unsigned lookups; /* of the registry, that are out */
	uint64_t limit;   /* 0: none */
	char after_node[KEY_NODE_MAX + 1], after_id[NAME_ID_MAX + 1];
	uv_timer_t timer;
	json_t *answer; /* of this node; owned */
	int status;     /* of that */
	gather_fn *fn;
	void *user;
	struct gather **slot;
};

static void on_timer_closed(uv_handle_t *handle)
{
	struct gather *g = handle->data;
	free(g);
}

/* Free what it owns. The memory stays until the timer has closed. */
static void destroy(struct gather *g)
{
	DL_DELETE(g->all->list, g);
	for (size_t i = 0; i < g->count; i++) {
		struct part *p = &g->parts[i];
		if (p->call)
			node_call_cancel(p->call);
		free(p->bytes);
		json_decref(p->entries);
	}
	free(g->parts);
	json_decref(g->answer);
	request_unref(g->request);
	uv_close((uv_handle_t *)&g->timer, on_timer_closed);
}

/* Joining */

static int compare_ids(const void *a, const void *b)
{
	const char *x = json_string_value(json_object_get(*(json_t *const *)a, "id"));
	const char *y = json_string_value(json_object_get(*(json_t *const *)b, "id"));
	return strcmp(x ? x : "", y ? y : "");
}

/* The entries of a part in the order of their ids; owned. NULL when memory is short. */
static json_t **sort(const json_t *entries)
{
	size_t count = json_array_size(entries);
	json_t **sorted = calloc(count + 1, sizeof *sorted);
	for (size_t i = 0; sorted && i < count; i++)
		sorted[i] = json_array_get(entries, i);
	if (sorted)
		qsort(sorted, count, sizeof *sorted, compare_ids);
	return sorted;
}

/* A page in the making. */
struct page {
	json_t *entries, *ids;
	const struct part *last; /* NULL: empty */
	const char *last_id;
	bool full;
};

static void add_entry(struct gather *g, const struct part *p, json_t *entry, struct page *page)
{
	const char *id = json_string_value(json_object_get(entry, "id"));
	if (g->limit > 0 && json_array_size(page->entries) >= g->limit) {
		page->full = true;
		return;
	}
	json_object_set_new(entry, "node", json_string(p->node));
	json_array_append(page->entries, entry);
	json_array_append_new(page->ids, json_string(id ? id : ""));
	page->last = p;
	page->last_id = id;
}

static void add_part(struct gather *g, const struct part *p, struct page *page)
{
	size_t count = json_array_size(p->entries);
	json_t **sorted = g->limit > 0 ? sort(p->entries) : NULL;
	if (p->skipped || (g->limit > 0 && !sorted))
		count = 0;
	for (size_t i = 0; i < count && !page->full; i++) {
		json_t *entry = sorted ? sorted[i] : json_array_get(p->entries, i);
		const char *id = json_string_value(json_object_get(entry, "id"));
		bool before = strcmp(p->node, g->after_node) == 0 && id &&
			strcmp(id, g->after_id) <= 0;
		if (!before)
			add_entry(g, p, entry, page);
	}
	free(sorted);
}

static json_t *join(struct gather *g)
{
	struct page page = {.entries = json_array(), .ids = json_array()};
	json_t *answer = json_is_object(g->answer) ? json_copy(g->answer) : NULL;
	for (size_t i = 0; i < g->count; i++)
		add_part(g, &g->parts[i], &page);
	if (answer && json_object_get(answer, "data"))
		json_object_set(answer, "data", page.ids);
	if (answer)
		json_object_set(answer, g->kind->array, page.entries);
	if (answer && page.full && page.last)
		json_object_set_new(answer, "next",
			json_sprintf("%s/%s", page.last->node, page.last_id ? page.last_id : ""));
	json_decref(page.entries);
	json_decref(page.ids);
	return answer;
}

/* All parts are there, or the time is over: call back, and free g. */
static void conclude(struct gather *g)
{
	gather_fn *fn = g->over ? NULL : g->fn;
	void *user = g->user;
	if (!g->begun || g->waiting > 0)
		return;
	int status = g->status;
	json_t *list = !fn ? NULL : status == 200 ? join(g) : json_incref(g->answer);
	if (fn)
		*g->slot = NULL;
	g->over = true;
	if (g->lookups == 0)
		destroy(g);
	if (fn)
		fn(user, status, list);
}

static void end_part(struct part *p)
{
	struct gather *g = p->gather;
	if (!p->waits)
		return;
	p->waits = false;
	g->waiting--;
	conclude(g);
}

/* A node that does not answer */

static json_t *lost_entry(const struct gather *g, const char *id)
{
	json_t *entry = g->kind->kind == OBJECT_SESSION
		? json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:n, s:n, s:n, s:n}",
			  "id", id, "name", id, "epoch", "", "state", "unreachable", "shell", "",
			  "cwd", "", "pid", 0, "cols", 80, "rows", 24, "clients", 0, "createdAt",
			  "lastActivityAt", "exit", "activity")
		: json_pack("{s:s, s:s, s:s}", "id", id, "status", "unreachable", "command", "");
	return entry;
}

/* The registry's answer; the part may be freed after it. */
static void on_registered(void *user, int error, const struct object_id *objects, size_t count)
{
	struct part *p = user;
	struct gather *g = p->gather;
	g->lookups--;
	if (error == 0 && p->waits) {
		p->entries = json_array();
		for (size_t i = 0; i < count; i++)
			if (objects[i].kind == g->kind->kind)
				json_array_append_new(p->entries, lost_entry(g, objects[i].id));
	}
	if (p->waits)
		end_part(p);
	else
		conclude(g);
}

static void look_up(struct part *p)
{
	p->gather->lookups++;
	places_list(member_places(p->gather->all->routings->member), p->node, on_registered, p);
}

/* Callbacks of a node's call */

static void on_head(void *user, int status)
{
	struct part *p = user;
	p->status = status;
}

static bool on_piece(void *user, const char *bytes, size_t length)
{
	struct part *p = user;
	size_t size = p->size ? p->size : 4096;
	while (size < p->length + length + 1)
		size *= 2;
	char *grown = size <= GATHER_PART_MAX ? realloc(p->bytes, size) : NULL;
	if (!grown) {
		p->status = 0; /* it is not complete */
		return true;
	}
	p->bytes = grown;
	p->size = size;
	memcpy(p->bytes + p->length, bytes, length);
	p->length += length;
	return true;
}

static void on_done(void *user, int error)
{
	struct part *p = user;
	json_t *answer = error == 0 && p->status == 200
		? json_read(p->bytes ? p->bytes : "", p->length, 0, NULL)
		: NULL;
	p->call = NULL;
	p->entries = json_incref(json_object_get(answer, p->gather->kind->array));
	json_decref(answer);
	if (p->entries)
		end_part(p);
	else
		look_up(p);
}

static const struct node_call_callbacks callbacks = {
	.head = on_head, .piece = on_piece, .done = on_done};

/*
 * The parameters for a node's part: those of the request, and of the page what the node can use. limit and after are for texts.
 * Returns their number.
 */
static size_t list_params(const struct part *p, char *params[REQUEST_PARAMS_MAX + 2],
	char limit[static 40], char after[static NAME_ID_MAX + 16])
{
	const struct gather *g = p->gather;
	size_t count = g->request->params_count;
	memcpy((void *)params, (const void *)g->request->params, count * sizeof *params);
	if (g->limit == 0)
		return count;
	/* One more, to see whether there is another page. */
	snprintf(limit, 40, "limit=%" PRIu64, g->limit < GATHER_LIMIT_MAX ? g->limit + 1 : g->limit);
	params[count++] = limit;
	if (strcmp(p->node, g->after_node) == 0) {
		snprintf(after, NAME_ID_MAX + 16, "after=/%s", g->after_id);
		params[count++] = after;
	}
	return count;
}

/* Ask a node. Returns false if that is impossible. */
static bool call_node(struct part *p, const char *url)
{
	const struct gather *g = p->gather;
	struct caller caller;
	char *value = NULL;
	caller_of(&g->request->principal, &caller);
	snprintf(caller.peer, sizeof caller.peer, "%s", g->request->peer);
	char *token = caller_sign(g->all->auth, &caller, p->node, clock_wall_ms());
	char *params[REQUEST_PARAMS_MAX + 2], limit[40], after[NAME_ID_MAX + 16];
	size_t count = list_params(p, params, limit, after);
	char *target = target_write(&(struct target){
		.url = url, .path = g->request->path, .params = params, .params_count = count});
	int rc = token && target && asprintf(&value, "Bearer %s", token) >= 0 ? 0 : -1;
	if (rc == 0)
		rc = node_call_begin(g->all->calls,
			&(struct node_call_request){.method = "GET",
				.url = target,
				.headers = &(struct node_call_header){"Authorization", value},
				.headers_count = 1},
			&callbacks, p, &p->call);
	free(value);
	free(token);
	free(target);
	return rc == 0;
}

/* This node's part */

static void on_own_answer(void *user)
{
	(void)user; /* it is read afterwards: handlers of lists answer at once */
}

static const struct request_transport own_transport = {.answered = on_own_answer};

static void ask_self(struct gather *g, struct part *p)
{
	struct request *r = g->request;
	r->transport = &own_transport;
	dispatcher_call(g->all->dispatcher, r);
	r->transport = NULL;
	g->status = r->reply.status;
	g->answer = json_incref(r->reply.json);
	p->entries = json_incref(json_object_get(g->answer, g->kind->array));
}

/* Beginning */

/* Whether all entries of a node are on earlier pages. */
static bool is_before(const struct gather *g, const char *node)
{
	return g->after_node[0] && strcmp(node, g->after_node) < 0;
}

static void ask_part(struct gather *g, struct part *p, const struct node *n)
{
	snprintf(p->node, sizeof p->node, "%s", n->name);
	p->gather = g;
	p->skipped = is_before(g, n->name);
	if (strcmp(n->name, g->all->routings->own) == 0) {
		ask_self(g, p);
		return;
	}
	if (p->skipped)
		return;
	p->waits = true;
	g->waiting++;
	if (!n->lives || !call_node(p, n->url))
		look_up(p);
}

static void on_nodes(void *user, int error, const struct node *nodes, size_t count)
{
	struct gather *g = user;
	struct node self = {.lives = true};
	(void)error; /* then they are those of the last list, or none */
	g->begun = true;
	if (g->over) {
		conclude(g);
		return;
	}
	g->begun = false; /* parts may end from inside */
	snprintf(self.name, sizeof self.name, "%s", g->all->routings->own);
	if (count == 0)
		nodes = &self;
	g->count = count ? count : 1;
	g->parts = calloc(g->count, sizeof *g->parts);
	g->count = g->parts ? g->count : 0;
	for (size_t i = 0; i < g->count; i++)
		ask_part(g, &g->parts[i], &nodes[i]);
	g->begun = true;
	conclude(g);
}

/* The node, then the registry, has not answered in time. */
static void on_late(uv_timer_t *timer)
{
	struct gather *g = timer->data;
	for (size_t i = 0; i < g->count; i++) {
		struct part *p = &g->parts[i];
		bool called = p->call;
		if (called)
			node_call_cancel(p->call);
		p->call = NULL;
		if (called) {
			look_up(p);
		} else if (p->waits) {
			p->waits = false;
			g->waiting--;
		}
	}
	conclude(g);
}

void gather_cancel(struct gather *g)
{
	if (!g)
		return;
	if (!g->over)
		*g->slot = NULL;
	g->over = true;
	for (size_t i = 0; i < g->count; i++) {
		struct part *p = &g->parts[i];
		if (p->call)
			node_call_cancel(p->call);
		g->waiting -= p->call != NULL;
		p->waits &= p->call == NULL;
		p->call = NULL;
	}
	conclude(g);
}

void gathers_close(struct gathers *all)
{
	struct gather *g, *next;
	DL_FOREACH_SAFE (all->list, g, next)
		gather_cancel(g);
}

/* A copy of r's target and client, without the parameters of pages. */
static struct request *copy_request(
	const struct gathers *all, const struct request *r, const char *path)
{
	struct request *copy = request_create();
	if (!copy)
		return NULL;
	copy->path = strdup(path);
	copy->method = METHOD_GET;
	copy->wants_json = true;
	copy->principal = r->principal;
	copy->auth = r->auth;
	snprintf(copy->peer, sizeof copy->peer, "%s", r->peer);
	route_parse(&all->dispatcher->routes, METHOD_GET, path, &copy->match);
	for (size_t i = 0; copy->path && i < r->params_count; i++) {
		bool page = strncmp(r->params[i], "limit=", 6) == 0 ||
			strncmp(r->params[i], "after=", 6) == 0;
		char *param = page ? NULL : strdup(r->params[i]);
		if (param)
			copy->params[copy->params_count++] = param;
	}
	if (copy->path)
		return copy;
	request_unref(copy);
	return NULL;
}

static const struct list_kind *kind_of(const struct request *r)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(r->match.row->path, kinds[i].path) == 0)
			return &kinds[i];
	return NULL;
}

bool gather_is_list(const struct request *r)
{
	return kind_of(r);
}

/* Read where the page begins: NODE/ID. */
static void read_page(struct gather *g, const struct request *r)
{
	const char *limit = request_param(r, "limit"), *after = request_param(r, "after");
	const char *slash = after ? strchr(after, '/') : NULL;
	if (!limit || !params_number(limit, GATHER_LIMIT_MAX, &g->limit))
		g->limit = 0;
	if (!slash || (size_t)(slash - after) > KEY_NODE_MAX || strlen(slash + 1) > NAME_ID_MAX)
		return;
	snprintf(g->after_node, sizeof g->after_node, "%.*s", (int)(slash - after), after);
	snprintf(g->after_id, sizeof g->after_id, "%s", slash + 1);
}

void gather_begin(struct gathers *all, const struct request *r, gather_fn *fn, void *user,
	struct gather **slot)
{
	struct nodes *nodes = member_nodes(all->routings->member);
	const struct list_kind *kind = kind_of(r) ? kind_of(r) : &kinds[0];
	struct gather *g = calloc(1, sizeof *g);
	struct request *copy = g ? copy_request(all, r, kind->path) : NULL;
	*slot = g;
	if (!copy) {
		free(g);
		*slot = NULL;
		fn(user, 500, NULL);
		return;
	}
	g->all = all;
	g->kind = kind;
	g->request = copy;
	g->fn = fn;
	g->user = user;
	g->slot = slot;
	read_page(g, r);
	uv_timer_init(all->loop, &g->timer);
	g->timer.data = g;
	uv_timer_start(&g->timer, on_late, GATHER_MS, REGISTRY_MS);
	DL_APPEND(all->list, g);
	if (nodes)
		nodes_list(nodes, on_nodes, g);
	else
		on_nodes(g, 0, NULL, 0);
}

/* Answering a request */

struct answering {
	struct request *request; /* our reference */
	struct gather *gather;
};

static void end_answering(struct answering *a)
{
	struct request *r = a->request;
	r->gone = NULL;
	free(a);
	request_unref(r);
}

static void on_list(void *user, int status, json_t *list)
{
	struct answering *a = user;
	if (list)
		reply_json(a->request, status, list);
	else
		reply_error(a->request, "OUT_OF_MEMORY", "Out of memory", NULL);
	end_answering(a);
}

static void on_gone(void *user)
{
	struct answering *a = user;
	gather_cancel(a->gather);
	end_answering(a);
}

void gather_answer(struct gathers *all, struct request *r)
{
	uint64_t limit;
	struct answering *a;
	if (!query_number(r, "limit", GATHER_LIMIT_MAX, &limit) ||
		!(a = request_alloc(r, sizeof *a)))
		return;
	a->request = request_ref(r);
	r->gone = on_gone;
	r->gone_user = a;
	gather_begin(all, r, on_list, a, &a->gather);
}
