/* A routed request waits for its routing, then for its forward; or it is handled here. */
#include "ws/fleet/router.h"

#include "shell/json_read.h"
#include "ws/api/read/body.h"
#include "ws/fleet/forward.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define ROUNDS_MAX 3u /* nodes that may answer that they do not have the object */

struct routed {
	struct routed *prev, *next;
	struct router *router;
	struct request *request; /* our reference */
	struct routing_question question;
	char node[KEY_NODE_MAX + 1]; /* of question */
	struct routing *routing;     /* NULL: none */
	struct forward *forward;     /* NULL: none */
	unsigned rounds;
	bool chosen;       /* the node of the forward does not have the object yet */
	bool looked_again; /* in the registry, because the node of the kept place could not be reached */
};

/* The body, if it is a JSON object; NULL otherwise. */
static const json_t *peek(struct request *r)
{
	bool is_short;
	if (!r->json && !r->parsed && r->body_length > 0 && !r->match.row->upload)
		r->parsed = body_parse(r->body, r->body_length, &is_short);
	const json_t *body = r->json ? r->json : r->parsed;
	return json_is_object(body) ? body : NULL;
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* Ids that were claimed for the objects that a request makes. */
struct made {
	struct routings *routings;
	struct routing_question question;
};

static void on_made(void *user)
{
	struct made *m = user;
	routing_release(m->routings, &m->question);
	free(m);
}

static void discard(struct routed *x)
{
	struct request *r = x->request;
	DL_DELETE(x->router->list, x);
	r->gone = NULL;
	free(x);
	request_unref(r);
}

static void on_gone(void *user)
{
	struct routed *x = user;
	routing_cancel(x->routing);
	discard(x);
}

static void handle_here(struct routed *x)
{
	struct request *r = request_ref(x->request);
	struct dispatcher *d = x->router->dispatcher;
	discard(x);
	dispatcher_call(d, r);
	request_unref(r);
}

static void on_here(void *user, bool claimed)
{
	struct routed *x = user;
	struct made *m = claimed ? malloc(sizeof *m) : NULL;
	if (m) {
		*m = (struct made){.routings = x->router->routings, .question = x->question};
		x->request->over = on_made;
		x->request->over_user = m;
	}
	handle_here(x);
}

static void ask(struct routed *x);

/* The node that the client has named does not have the object. */
static void refuse_missing(struct routed *x)
{
	const struct object_id *o = &x->question.objects[0];
	if (o->kind == OBJECT_SESSION)
		reply_error(x->request, "SESSION_NOT_FOUND", "There is no such session at this node",
			json_pack("{s:s}", "sessionId", o->id));
	else
		reply_error(x->request, "PROCESS_NOT_FOUND", "There is no such process at this node",
			json_pack("{s:s}", "processId", o->id));
	discard(x);
}

/* The node that was asked does not have the object. */
static void on_misdirected(void *user, const char *owner)
{
	struct routed *x = user;
	struct places *places = member_places(x->router->routings->member);
	const struct object_id *o = &x->question.objects[0];
	x->forward = NULL;
	if (x->node[0] && !x->question.chooses) {
		refuse_missing(x);
		return;
	}
	if (x->question.count == 0 || ++x->rounds > ROUNDS_MAX) {
		handle_here(x);
		return;
	}
	if (*owner)
		places_keep(places, o, owner);
	else
		places_drop(places, o);
	x->request->gone = on_gone;
	x->request->gone_user = x;
	ask(x);
}

/* Whether to ask again after a node could not be reached: another may be chosen, or the object may have moved. */
static bool asks_again(struct routed *x, const char *node)
{
	const struct member *m = x->router->routings->member;
	if (++x->rounds > ROUNDS_MAX || strcmp(x->node, node) == 0)
		return false;
	if (x->chosen)
		return true;
	/* Without the registry the kept place is all that is known. */
	if (x->looked_again || x->question.count == 0 || !member_is_connected(m))
		return false;
	x->looked_again = true;
	places_drop(member_places(m), &x->question.objects[0]);
	return true;
}

static void on_unreachable(void *user, const char *node)
{
	struct routed *x = user;
	x->forward = NULL;
	routing_avoid(x->router->routings, node);
	if (!asks_again(x, node)) {
		reply_error(x->request, "NODE_UNREACHABLE", "The node cannot be reached",
			json_pack("{s:s}", "node", node));
		discard(x);
		return;
	}
	x->request->gone = on_gone;
	x->request->gone_user = x;
	ask(x);
}

static void on_over(void *user)
{
	struct routed *x = user;
	x->forward = NULL;
	discard(x);
}

static void on_there(void *user, const char *node, const char *url, bool chosen)
{
	struct routed *x = user;
	const struct forward_options options = {.calls = x->router->calls,
		.auth = x->router->auth,
		.misdirected = on_misdirected,
		.unreachable = on_unreachable,
		.over = on_over,
		.user = x};
	x->chosen = chosen;
	const struct forward_to to = {.node = node, .url = url, .chosen = chosen};
	struct forward *f = forward_begin(&options, x->request, &to);
	if (f)
		x->forward = f;
	else
		discard(x);
}

/* This node has got a request for another one's object. */
static void on_stray(void *user, const char *owner)
{
	struct routed *x = user;
	if (*owner)
		reply_header(x->request, "Ringside-Owner", owner);
	reply_error(x->request, "MISDIRECTED", "This node does not have the object", NULL);
	discard(x);
}

/* The registry's answer to the removal of a session whose node is away. */
static void on_forgotten(void *user, int error, const char *node)
{
	struct request *r = user;
	(void)node;
	r->gone = NULL;
	if (!r->transport || r->done) {
		/* the client has gone */
	} else if (error == 0) {
		reply_success(r, json_pack("{s:s}", "sessionId", text_of(peek(r), "sessionId")));
	} else if (error == -ENOENT || error == -EEXIST) {
		reply_error(r, "SESSION_NOT_FOUND", "There is no such session", NULL);
	} else {
		reply_error(r, "REGISTRY_UNREACHABLE",
			"The registry of the fleet cannot be reached", NULL);
	}
	request_unref(r);
}

/* Forget the session of a node that is away, if r asks for that. Returns whether it does. */
static bool forget(struct routed *x)
{
	struct request *r = x->request;
	const struct object_id o = x->question.objects[0];
	if (r->match.row->place != PLACE_EXISTING || x->question.count == 0 ||
		!json_is_true(json_object_get(peek(r), "force")))
		return false;
	struct places *places = member_places(x->router->routings->member);
	request_ref(r);
	discard(x);
	places_forget(places, &o, on_forgotten, r);
	return true;
}

static void on_failed(void *user, const struct routing_problem *problem, const char *node)
{
	struct routed *x = user;
	if (strcmp(problem->code, "NODE_UNREACHABLE") == 0 && forget(x))
		return;
	reply_error(x->request, problem->code, problem->message,
		*node ? json_pack("{s:s}", "node", node) : NULL);
	discard(x);
}

static const struct routing_callbacks callbacks = {
	.here = on_here, .there = on_there, .misdirected = on_stray, .failed = on_failed};

static void ask(struct routed *x)
{
	x->question.node = x->node;
	routing_begin(x->router->routings, &x->question, &callbacks, x, &x->routing);
}

/* What a request is about */

/* The session that a request names outside of its path; NULL: none. */
static const char *find_session(struct request *r)
{
	const char *id = r->session_header[0] ? r->session_header : request_param(r, "session");
	id = id ? id : request_param(r, "sessionId");
	id = id ? id : text_of(peek(r), "sessionId");
	return id;
}

/* The session that a call of a tool names; NULL: none. */
static const char *find_tool_session(struct request *r)
{
	const json_t *params = json_object_get(peek(r), "params");
	return text_of(json_object_get(params, "arguments"), "session_id");
}

/* Add an object to the question, if it has a valid id. */
static void add(struct routing_question *q, enum object_kind kind, const char *id)
{
	bool none = id && strcmp(id, BODY_NO_SESSION) == 0;
	if (id && !none && name_is_id(id) && q->count < ROUTING_OBJECTS)
		q->objects[q->count++] = object_id_of(kind, id);
}

/* Find what a request is about. */
static void read_question(struct request *r, struct routing_question *q)
{
	const struct route_row *row = r->match.row;
	*q = (struct routing_question){.forwarded = r->principal.forwarded};
	switch (row->place) {
	case PLACE_SESSION:
		add(q, OBJECT_SESSION, row->session ? r->match.id : find_session(r));
		q->creates = !row->session;
		break;
	case PLACE_EXISTING:
		add(q, OBJECT_SESSION, find_session(r));
		break;
	case PLACE_PROCESS:
		add(q, OBJECT_PROCESS, r->match.id);
		break;
	case PLACE_NEW_SESSION:
		add(q, OBJECT_SESSION, text_of(peek(r), "id"));
		q->creates = true;
		break;
	case PLACE_NEW_PROCESS:
		add(q, OBJECT_SESSION, find_session(r));
		add(q, OBJECT_PROCESS, text_of(peek(r), "processId"));
		q->creates = true;
		break;
	case PLACE_TOOL:
		add(q, OBJECT_SESSION, find_tool_session(r));
		break;
	default:
		break;
	}
	q->chooses = q->creates && row->place != PLACE_SESSION;
}

/* The node that a request names; NULL: none. */
static const char *find_node(struct request *r)
{
	enum route_place place = r->match.row->place;
	const char *node = r->node[0] ? r->node : request_param(r, "node");
	if (r->principal.forwarded) /* what the client wants has been decided */
		return request_param(r, "node");
	if (!node && (place == PLACE_NEW_SESSION || place == PLACE_NEW_PROCESS))
		node = text_of(peek(r), "node");
	return node;
}

/* The node of a link, with which the client logs in or out, or which is its credential; "": this one. */
static bool find_link_node(const struct router *router, struct request *r, char node[AUTH_NODE_SIZE])
{
	enum route_place place = r->match.row->place;
	const char *token = place == PLACE_LOGIN ? text_of(peek(r), "token") : NULL;
	node[0] = '\0';
	if (token && auth_is_elsewhere(router->auth, token, node))
		return true;
	if (r->auth != AUTH_OK || !r->principal.node[0])
		return false;
	if (r->match.row->access == ROUTE_PUBLIC && place != PLACE_LOGIN)
		return false;
	snprintf(node, AUTH_NODE_SIZE, "%s", r->principal.node);
	return true;
}

static bool names_another(const struct router *router, struct request *r)
{
	const char *node = r->principal.forwarded ? NULL : find_node(r);
	return node && *node && strcmp(node, router->routings->own) != 0;
}

/* Whether the answer is this node's alone, so that nothing needs to be looked up. */
static bool is_here(const struct router *router, const struct routing_question *q, const char *node)
{
	if (node && *node && strcmp(node, router->routings->own) != 0 && !q->forwarded)
		return false;
	if (q->count == 0)
		return !q->chooses || q->forwarded || (node && *node);
	for (unsigned i = 0; i < q->count; i++)
		if (!routing_is_here(router->routings, &q->objects[i]))
			return false;
	return true;
}

/* Answer a request for the lists of all nodes. Returns false if it asks for something else. */
static bool take_list(struct router *router, struct request *r)
{
	if (r->match.row->place != PLACE_ALL || r->principal.forwarded || find_node(r))
		return false;
	if (follow_is_events(r))
		follow_begin(router->follows, r);
	else if (gather_is_list(r))
		gather_answer(router->gathers, r);
	else
		return false;
	return true;
}

static bool begin(struct router *router, struct request *r, const struct routing_question *q,
	const char *node)
{
	struct routed *x = calloc(1, sizeof *x);
	if (!x) {
		reply_error(r, "OUT_OF_MEMORY", "Out of memory", NULL);
		return true;
	}
	x->router = router;
	x->request = request_ref(r);
	x->question = *q;
	snprintf(x->node, sizeof x->node, "%s", node ? node : "");
	DL_APPEND(router->list, x);
	r->gone = on_gone;
	r->gone_user = x;
	ask(x);
	return true;
}

static bool take(void *user, struct request *r, bool local)
{
	struct router *router = user;
	struct routing_question q;
	char link_node[AUTH_NODE_SIZE];
	if (local && !r->principal.node[0] && !names_another(router, r))
		return false;
	if (!r->principal.forwarded && find_link_node(router, r, link_node)) {
		q = (struct routing_question){0};
		return begin(router, r, &q, link_node);
	}
	if (r->match.row->access == ROUTE_PUBLIC || r->principal.session[0])
		return false;
	if (take_list(router, r))
		return true;
	read_question(r, &q);
	const char *node = find_node(r);
	return !is_here(router, &q, node) && begin(router, r, &q, node);
}

void router_open(struct router *r, struct dispatcher *dispatcher)
{
	r->dispatcher = dispatcher;
	r->hook = (struct dispatcher_router){.take = take, .user = r};
	dispatcher->router = &r->hook;
}

void router_close(struct router *r)
{
	struct routed *x, *next;
	r->dispatcher->router = NULL;
	DL_FOREACH_SAFE (r->list, x, next) {
		if (x->forward) {
			struct forward *f = x->forward;
			if (!forward_lose(f))
				forward_cancel(f);
			continue;
		}
		routing_cancel(x->routing);
		reply_error(x->request, "SERVER_DRAINING", "The server is stopping", NULL);
		discard(x);
	}
}

void router_lose(struct router *r, const char *node)
{
	struct routed *x, *next;
	DL_FOREACH_SAFE (r->list, x, next)
		if (x->forward && strcmp(forward_node(x->forward), node) == 0)
			(void)forward_lose(x->forward);
}

bool router_is_waiting(const struct router *r)
{
	const struct routed *x;
	DL_FOREACH (r->list, x)
		if (x->forward)
			return true;
	return false;
}
