#include "ws/fleet/routed_terminal.h"

#include "shell/clock.h"
#include "ws/auth/caller.h"
#include "ws/fleet/target.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define ROUNDS_MAX 3u

/* A message that is held. */
struct held_message {
	struct held_message *prev, *next;
	bool binary;
	size_t length;
	char bytes[]; /* NUL-terminated */
};

/* It is being routed; or protocol and self are those of a terminal here or of a node_socket; or it is refused. */
struct routed_terminal {
	struct routed_terminal *prev, *next;
	struct routed_terminals *all;
	const struct frames_transport *transport;
	void *transport_user;
	struct principal principal;
	struct terminal_query query;
	char peer[LIMITER_PEER_MAX];
	char *params[REQUEST_PARAMS_MAX]; /* owned */
	size_t params_count;
	struct routing_question question;
	struct routing *routing;
	bool claimed;
	char node[KEY_NODE_MAX + 1];            /* the frames pass to it; "": none */
	bool chosen;                            /* it does not have the session yet */
	unsigned rounds;                        /* nodes that were chosen in vain */
	const struct frames_protocol *protocol; /* NULL: not yet, or refused */
	void *self;
	struct held_message *held;
	size_t held_bytes;
	char *error; /* to be sent before the end; owned */
	enum close_code close_code;
	const char *close_reason; /* a literal */
};

/* Refusing */

static void send_error(struct routed_terminal *t)
{
	size_t length = t->error ? strlen(t->error) : 0;
	uint8_t *frame = t->error && t->transport->room(t->transport_user) >= length
		? malloc(FRAMES_HEADROOM + length)
		: NULL;
	if (t->error && !frame)
		return; /* writable() comes */
	if (frame) {
		memcpy(frame + FRAMES_HEADROOM, t->error, length);
		t->transport->send(t->transport_user, frame + FRAMES_HEADROOM, length, FRAME_TEXT);
	}
	free(frame);
	free(t->error);
	t->error = NULL;
	t->transport->close(t->transport_user, t->close_code, t->close_reason);
}

static void refuse(
	struct routed_terminal *t, enum close_code close, const char *code, const char *message)
{
	json_t *json = json_pack(
		"{s:s, s:s, s:s}", "type", "error", "code", code, "message", message);
	t->error = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	t->close_code = close;
	t->close_reason = message;
	send_error(t);
}

static void refuse_as(struct routed_terminal *t, const struct refusal *why)
{
	refuse(t,
		why->status == 404           ? CLOSE_SESSION_DELETED
			: why->status == 401 ? CLOSE_ACCESS_ENDED
			: why->status == 403 ? CLOSE_POLICY
					     : CLOSE_INTERNAL,
		why->code, why->message);
}

/* Held messages */

static void hold(struct routed_terminal *t, bool binary, const void *bytes, size_t length)
{
	struct held_message *m = NULL;
	if (t->close_code)
		return;
	if (t->held_bytes + length <= ROUTED_TERMINAL_HELD_MAX)
		m = malloc(sizeof *m + length + 1);
	if (!m) {
		refuse(t, CLOSE_POLICY, "LIMIT_REACHED",
			"Too much was sent before the session was found");
		return;
	}
	*m = (struct held_message){.binary = binary, .length = length};
	memcpy(m->bytes, bytes, length);
	m->bytes[length] = '\0';
	DL_APPEND(t->held, m);
	t->held_bytes += length;
}

/* Give what was held to the protocol that is chosen. */
static void give_held(struct routed_terminal *t)
{
	struct held_message *m;
	while ((m = t->held)) {
		DL_DELETE(t->held, m);
		if (t->self && m->binary)
			t->protocol->binary(t->self, m->bytes, m->length);
		else if (t->self)
			t->protocol->text(t->self, m->bytes, m->length);
		free(m);
	}
}

/* The answers of the routing */

static void on_here(void *user, bool claimed)
{
	struct routed_terminal *t = user;
	struct terminals *terminals = t->all->terminals;
	struct refusal why = terminal_check(terminals, &t->query, &t->principal);
	t->claimed = claimed;
	if (why.status) {
		refuse_as(t, &why);
		return;
	}
	terminals->metrics->clients++;
	t->protocol = &terminal_protocol;
	t->self = terminal_open(
		terminals, &t->query, &t->principal, t->transport, t->transport_user);
	if (!t->self)
		refuse(t, CLOSE_INTERNAL, "OUT_OF_MEMORY", "Out of memory");
	give_held(t);
}

static void route(struct routed_terminal *t);

/* The node cannot be reached: if it does not have the session yet, choose another one. */
static bool on_unreachable(void *user)
{
	struct routed_terminal *t = user;
	routing_avoid(t->all->routings, t->node);
	if (!t->chosen || ++t->rounds > ROUNDS_MAX || !t->self)
		return false;
	t->protocol->closed(t->self);
	t->protocol = NULL;
	t->self = NULL;
	t->node[0] = '\0';
	route(t);
	return true;
}

static void on_there(void *user, const char *node, const char *url, bool chosen)
{
	struct routed_terminal *t = user;
	struct caller caller;
	caller_of(&t->principal, &caller);
	snprintf(caller.peer, sizeof caller.peer, "%s", t->peer);
	char *token = caller_sign(t->all->auth, &caller, node, clock_wall_ms());
	char *target = target_write(&(struct target){.url = "",
		.path = "/ws/pty",
		.params = t->params,
		.params_count = t->params_count,
		.node = chosen ? node : NULL});
	snprintf(t->node, sizeof t->node, "%s", node);
	t->chosen = chosen;
	if (token && target) {
		t->protocol = &node_socket_protocol;
		t->self = node_socket_open(t->all->sockets,
			&(struct node_socket_options){.url = url,
				.target = target,
				.token = token,
				.transport = t->transport,
				.transport_user = t->transport_user,
				.unreachable = on_unreachable,
				.user = t});
	}
	free(token);
	free(target);
	if (!t->self)
		refuse(t, CLOSE_INTERNAL, "OUT_OF_MEMORY", "Out of memory");
	give_held(t);
}

static void on_misdirected(void *user, const char *owner)
{
	(void)owner;
	refuse(user, CLOSE_GOING_AWAY, "MISDIRECTED", "This node does not have the session");
}

static void on_failed(void *user, const struct routing_problem *problem, const char *node)
{
	(void)node;
	refuse(user, CLOSE_GOING_AWAY, problem->code, problem->message);
}

static const struct routing_callbacks callbacks = {
	.here = on_here, .there = on_there, .misdirected = on_misdirected, .failed = on_failed};

static void route(struct routed_terminal *t)
{
	const struct principal *p = &t->principal;
	t->question.node = p->node[0] ? p->node : params_find(t->params, t->params_count, "node");
	routing_begin(t->all->routings, &t->question, &callbacks, t, &t->routing);
}

/* The client's transport */

static void on_binary(void *self, const void *bytes, size_t length)
{
	struct routed_terminal *t = self;
	if (t->self)
		t->protocol->binary(t->self, bytes, length);
	else
		hold(t, true, bytes, length);
}

static void on_text(void *self, const char *text, size_t length)
{
	struct routed_terminal *t = self;
	if (t->self)
		t->protocol->text(t->self, text, length);
	else if (text)
		hold(t, false, text, length);
}

static void on_writable(void *self)
{
	struct routed_terminal *t = self;
	if (t->self)
		t->protocol->writable(t->self);
	else if (t->close_code)
		send_error(t);
}

static void on_too_big(void *self)
{
	struct routed_terminal *t = self;
	if (t->self)
		t->protocol->too_big(t->self);
	else
		refuse(t, CLOSE_TOO_BIG, "REQUEST_TOO_LARGE", "The message is too big");
}

static void on_closed(void *self)
{
	struct routed_terminal *t = self;
	struct routed_terminals *all = t->all;
	routing_cancel(t->routing);
	if (t->protocol == &terminal_protocol)
		all->terminals->metrics->clients--;
	if (t->self)
		t->protocol->closed(t->self);
	t->self = NULL;
	give_held(t);
	if (t->claimed)
		routing_release(all->routings, &t->question);
	DL_DELETE(all->list, t);
	for (size_t i = 0; i < t->params_count; i++)
		free(t->params[i]);
	free(t->error);
	free(t);
}

static const struct frames_protocol protocol = {
	.message_max = TERMINAL_MESSAGE_MAX,
	.text_max = TERMINAL_MESSAGE_MAX,
	.writable = on_writable,
	.binary = on_binary,
	.text = on_text,
	.too_big = on_too_big,
	.closed = on_closed,
};

/* Whether the socket is not simply for a session that is here. */
static bool is_elsewhere(void *user, const struct terminal_query *q, const struct principal *p)
{
	const struct routed_terminals *all = user;
	const struct object_id o = object_id_of(OBJECT_SESSION, q->session);
	if (p->node[0])
		return true;
	return !q->sandbox[0] && !p->session[0] && !routing_is_here(all->routings, &o);
}

static void *open_routed(void *user, const struct terminal_opening *o)
{
	struct routed_terminals *all = user;
	struct routed_terminal *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->all = all;
	t->transport = o->transport;
	t->transport_user = o->transport_user;
	t->principal = *o->principal;
	t->query = *o->query;
	snprintf(t->peer, sizeof t->peer, "%s", o->peer);
	for (size_t i = 0; i < o->params_count; i++) {
		char *param = strdup(o->params[i]);
		if (param)
			t->params[t->params_count++] = param;
	}
	DL_APPEND(all->list, t);
	t->question = (struct routing_question){
		.creates = !o->query->resume && !o->principal->node[0],
		.forwarded = o->principal->forwarded};
	if (!o->principal->node[0])
		t->question.objects[t->question.count++] = object_id_of(
			OBJECT_SESSION, o->query->session);
	route(t);
	return t;
}

void routed_terminals_open(struct routed_terminals *all, struct terminals *terminals)
{
	all->terminals = terminals;
	all->hook = (struct terminal_elsewhere){
		.is = is_elsewhere, .open = open_routed, .protocol = &protocol, .user = all};
	terminals->elsewhere = &all->hook;
}

void routed_terminals_close(struct routed_terminals *all)
{
	struct routed_terminal *t;
	all->terminals->elsewhere = NULL;
	DL_FOREACH (all->list, t) {
		routing_cancel(t->routing);
		t->routing = NULL;
		if (!t->node[0] || !t->self)
			continue;
		t->protocol->closed(t->self);
		t->protocol = NULL;
		t->self = NULL;
		t->close_code = CLOSE_GOING_AWAY;
		t->close_reason = "server going away";
	}
}

void routed_terminals_lose(struct routed_terminals *all, const char *node)
{
	struct routed_terminal *t, *next;
	DL_FOREACH_SAFE (all->list, t, next)
		if (t->self && strcmp(t->node, node) == 0)
			node_socket_lose(t->self);
}
