/*
 * Describes connections, and makes connections of descriptions. What is described of a connection is what it would do if all
 * its bytes came now: its state, and the bytes in front of those in the kernel. A request that waits, or whose body is being
 * received, becomes such bytes again.
 */
#include "ws/net/takeover.h"

#include "shell/clock.h"
#include "shell/name.h"
#include "ws/access.h"
#include "ws/base64.h"
#include "ws/net/exchange.h"
#include "ws/net/http1.h"
#include "ws/net/http_repeat.h"
#include "ws/net/relay.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define REST_MAX ((size_t)1 << 20)   /* unsent bytes of an answer that is handed over */
#define RESTS_MAX ((size_t)64 << 20) /* the same of all answers */

/* The states that are handed over, by their names in descriptions. */
static const struct {
	enum conn_state state;
	const char *name;
} states[] = {{CONN_SILENT, "silent"}, {CONN_HEAD, "head"}, {CONN_ANSWER, "answer"},
	{CONN_LINGER, "linger"}};

static const char *const trusts[] = {
	[CONN_TRUST_NONE] = "none", [CONN_TRUST_OWNER] = "owner", [CONN_TRUST_FOREIGN] = "foreign"};

/* Holding */

void takeover_hold(struct server *s)
{
	s->held = true;
	listen_hold(s);
	socket_hold_all(s, true);
}

void takeover_resume(struct server *s)
{
	s->held = false;
	listen_resume(s);
	socket_hold_all(s, false);
	conns_resume(s);
}

void takeover_close_sockets(struct server *s)
{
	socket_close_all(s);
}

/* Counting */

bool takeover_has_body(const struct conn *c)
{
	const struct exchange *x = c->exchange;
	return c->state == CONN_BODY && !c->ssl && !c->out && x && x->wants_body && x->head &&
		x->state == EXCHANGE_PENDING && !exchange_body_in_pieces(x);
}

/* Whether the request of c waits for its answer, and another server can be asked for it. */
static bool can_be_asked(const struct conn *c, struct request_repeat *ret_repeat)
{
	const struct exchange *x = c->exchange;
	*ret_repeat = (struct request_repeat){0};
	return c->state == CONN_ANSWER && !c->ssl && !c->out && x && x->head &&
		x->state == EXCHANGE_PENDING && request_can_repeat(x->request, ret_repeat);
}

/* Whether c sends an answer in memory whose rest another server can send. *ret_length: its bytes. */
static bool has_rest(const struct conn *c, size_t *ret_length)
{
	const struct exchange *x = c->exchange;
	if (c->state != CONN_ANSWER || c->ssl)
		return false;
	*ret_length = c->out_length - c->out_sent;
	if (!x)
		return c->out; /* it is one already */
	if (x->state != EXCHANGE_ANSWERED || !x->head_sent)
		return false;
	*ret_length += exchange_length(x) - x->sent;
	return *ret_length <= REST_MAX;
}

/* The counter of what c does; NULL: nothing that counts. */
static unsigned *find_counter(const struct conn *c, struct takeover_work *work)
{
	size_t rest;
	struct request_repeat repeat;
	const struct exchange *x = c->exchange;
	if (c->state == CONN_RELAY)
		return c->relay->inner || c->relay->state == RELAY_TUNNEL ? NULL : &work->previews;
	if (c->state == CONN_BODY && exchange_body_is_upload(x))
		return &work->uploads;
	if (c->state == CONN_BODY)
		return takeover_has_body(c) ? NULL : &work->requests;
	if (c->state != CONN_ANSWER || has_rest(c, &rest))
		return NULL;
	if (x->state == EXCHANGE_STREAMING)
		return NULL;
	if (x->state == EXCHANGE_DOWNLOADING)
		return &work->downloads;
	if (x->state != EXCHANGE_PENDING)
		return &work->answers;
	bool asked = can_be_asked(c, &repeat);
	request_repeat_finish(&repeat);
	return asked ? NULL : x->request->upload.live ? &work->uploads : &work->requests;
}

/* Requests of WebSockets and the like, whose clients ask again for what only reads. */
static void count_others(const struct server *s, uint64_t until_ms, const struct request *without,
	struct takeover_work *work)
{
	const struct access *a = s->options.dispatcher->access;
	for (const struct request *r = a ? a->requests : NULL; r; r = r->access_next) {
		const struct route_row *row = r->match.row;
		bool reads = r->method == METHOD_GET || (row && row->reads);
		if (r != without && !r->done && !r->stream.next && !reads && !exchange_of(r) &&
			r->entered_ms <= until_ms)
			work->requests++;
	}
}

void takeover_count(const struct server *s, uint64_t min_age_ms, const struct request *without,
	struct takeover_work *ret_work)
{
	uint64_t now_ms = server_now_ms(s), clock_ms = clock_monotonic_ms();
	*ret_work = (struct takeover_work){0};
	for (const struct conn *c = conns_first(s); c; c = c->next) {
		if (now_ms - c->since_ms < min_age_ms)
			continue;
		unsigned *counter = find_counter(c, ret_work);
		bool counts = !(without && c->exchange && c->exchange->request == without);
		if (counter && counts && c->unauthenticated)
			ret_work->strangers++;
		else if (counter && counts)
			(*counter)++;
	}
	count_others(s, clock_ms > min_age_ms ? clock_ms - min_age_ms : 0, without, ret_work);
}

unsigned takeover_total(const struct takeover_work *work)
{
	return work->requests + work->uploads + work->downloads + work->answers + work->previews;
}

/* Describing */

/* Bytes in up to three parts, joined. Returns a new reference; NULL when memory is short. */
static json_t *join(const char *const parts[3], const size_t lengths[3])
{
	size_t length = lengths[0] + lengths[1] + lengths[2], at = 0;
	char *bytes = malloc(length + 1);
	if (!bytes)
		return NULL;
	for (int i = 0; i < 3; i++) {
		if (lengths[i] > 0)
			memcpy(bytes + at, parts[i], lengths[i]);
		at += lengths[i];
	}
	json_t *json = base64_json(bytes, length);
	free(bytes);
	return json;
}

/* A request that has begun, as the bytes that it came from: a head, its body, and what follows it. */
static json_t *describe_request(
	const struct conn *c, const struct http_repeat *change, const char *body, size_t length)
{
	const struct exchange *x = c->exchange;
	size_t head_length = x->head_length;
	char *head = NULL;
	if (change) {
		head = http_repeat_head(x->head, x->head_length, change, &head_length);
		if (!head)
			return NULL;
	}
	json_t *bytes = join((const char *const[]){head ? head : x->head, body, c->in},
		(const size_t[]){head_length, length, c->in_length});
	free(head);
	return bytes;
}

/* The target of a repeated request, with the link whose cookie authenticates it. Owned; NULL when memory is short. */
static char *add_link(const struct request *r, const char *target)
{
	char *text = NULL;
	const char *link = request_param(r, "link");
	if (!link || !name_is_id(link))
		return strdup(target);
	return asprintf(&text, "%s%clink=%s", target, strchr(target, '?') ? '&' : '?', link) < 0
		? NULL
		: text;
}

/* A request that waits for its answer. */
static json_t *describe_waiting(const struct conn *c, const struct request_repeat *repeat)
{
	const struct request *r = c->exchange->request;
	char *target = repeat->target ? add_link(r, repeat->target) : NULL;
	if (repeat->target && !target)
		return NULL;
	bool now_get = repeat->method && strcmp(repeat->method, "GET") == 0;
	const char *body = repeat->body ? repeat->body : now_get ? NULL : r->body;
	size_t length = repeat->body ? strlen(repeat->body) : body ? r->body_length : 0;
	struct http_repeat change = {.method = repeat->method,
		.target = target,
		.has_body = body != NULL,
		.body_length = length};
	bool changes = change.method || change.target || change.has_body;
	json_t *described = describe_request(c, changes ? &change : NULL, body, length);
	free(target);
	return described;
}

/* A request whose body is being received. */
static json_t *describe_body(const struct conn *c)
{
	const struct exchange *x = c->exchange;
	struct http_repeat change = {.has_body = true, .body_length = x->body_size};
	return describe_request(c, &change, x->request->body, x->body_got);
}

/* What is left to send of an answer. */
static json_t *describe_rest(const struct conn *c)
{
	const struct exchange *x = c->exchange;
	const char *body = x ? x->request->reply.body + x->sent : NULL;
	return join((const char *const[]){c->out + c->out_sent, body, NULL},
		(const size_t[]){
			c->out_length - c->out_sent, x ? exchange_length(x) - x->sent : 0, 0});
}

static const char *state_name(enum conn_state state)
{
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (states[i].state == state)
			return states[i].name;
	return "head";
}

/* The description of c in this state, with bytes to read first; NULL: memory is short. */
static json_t *describe_conn(const struct conn *c, enum conn_state state, json_t *in)
{
	/* A head that is read again tells what to skip. */
	size_t skip = state == CONN_HEAD && c->state != CONN_HEAD ? 0 : c->skip;
	if (!in)
		return NULL;
	return json_pack("{s:i, s:b, s:s, s:s, s:o, s:I, s:I, s:b, s:b, s:b, s:b, s:b}", "fd",
		c->fd, "unix", (int)c->arrival.unix_socket, "by", trusts[c->arrival.by], "state",
		state_name(state), "in", in, "skip", (json_int_t)skip, "excess",
		(json_int_t)c->excess, "browser", (int)c->is_browser, "served", (int)c->served,
		"clear", (int)c->clear, "busy", (int)c->busy, "authenticated",
		(int)(c->unauthenticated == NULL));
}

/* The description of c; NULL: it cannot be handed over, or *ret_short is set because memory is short. */
static json_t *describe(const struct conn *c, size_t *rests, bool *ret_short)
{
	size_t rest = 0;
	json_t *described = NULL;
	struct request_repeat repeat = {0};
	bool known = true;
	if (c->state == CONN_SILENT || c->state == CONN_LINGER || (c->state == CONN_HEAD && !c->ssl))
		described = describe_conn(
			c, c->state, base64_json(c->in ? c->in : "", c->in_length));
	else if (takeover_has_body(c))
		described = describe_conn(c, CONN_HEAD, describe_body(c));
	else if (can_be_asked(c, &repeat))
		described = describe_conn(c, CONN_HEAD, describe_waiting(c, &repeat));
	else if (has_rest(c, &rest) && (*rests += rest) <= RESTS_MAX)
		described = describe_conn(
			c, CONN_ANSWER, base64_json(c->in ? c->in : "", c->in_length));
	else
		known = false;
	request_repeat_finish(&repeat);
	if (rest > 0 && described) {
		const struct exchange *x = c->exchange;
		bool close = x ? x->close_after : c->close_after;
		json_object_set_new(described, "out", describe_rest(c));
		json_object_set_new(described, "close", json_boolean(close));
	}
	*ret_short = known && !described;
	return described;
}

/* Add the description of c, if it can be handed over, and set c->leaves. Returns false when memory is short. */
static bool add_conn(json_t *list, struct conn *c, size_t *rests)
{
	bool is_short;
	json_t *described = describe(c, rests, &is_short);
	c->leaves = described != NULL;
	return described ? json_array_append_new(list, described) == 0 : !is_short;
}

static bool add_listener(json_t *list, const struct listener *l)
{
	char address[sizeof l->address + 16];
	if (!l->open)
		return true;
	if (l->unix_socket)
		snprintf(address, sizeof address, "unix:%s", l->address);
	else
		snprintf(address, sizeof address, strchr(l->address, ':') ? "[%s]:%u" : "%s:%u",
			l->address, l->port);
	json_t *described = json_pack("{s:i, s:s, s:b, s:b}", "fd", l->fd, "address", address,
		"command", (int)l->command, "ours", (int)!l->inherited);
	return described && json_array_append_new(list, described) == 0;
}

json_t *takeover_describe(struct server *s)
{
	json_t *sockets = json_array(), *connections = json_array();
	size_t rests = 0;
	bool good = sockets && connections;
	for (size_t i = 0; good && i < s->listeners_count; i++)
		good = add_listener(sockets, &s->listeners[i]);
	for (struct conn *c = conns_first(s); good && c; c = c->next)
		good = add_conn(connections, c, &rests);
	if (good)
		return json_pack("{s:o, s:o}", "sockets", sockets, "connections", connections);
	json_decref(sockets);
	json_decref(connections);
	return NULL;
}

/* Leaving */

static int fd_of(const json_t *described)
{
	return (int)json_integer_value(json_object_get(described, "fd"));
}

static void inherit(int fd)
{
	(void)fcntl(fd, F_SETFD, 0);
}

static void leave_conn(struct conn *c)
{
	conn_unwatch(c);
	inherit(c->fd);
	conn_retire(c);
	c->fd = -1;
}

void takeover_leave(struct server *s, const json_t *described)
{
	const json_t *entry;
	size_t i;
	json_array_foreach (json_object_get(described, "sockets"), i, entry)
		inherit(fd_of(entry));
	s->stopping = true;
	listen_leave(s);
	struct conn *c, *next;
	for (c = conns_first(s); c; c = next) {
		next = c->next;
		if (c->leaves)
			leave_conn(c);
		else if (c->ssl && c->state == CONN_HEAD)
			conn_shutdown(c); /* close_notify; server_close() closes it */
	}
}

/* Beginning */

/* Make descriptors ours that the program before has left open for us; others are removed from the list. */
static void claim(json_t *list)
{
	for (size_t i = 0; i < json_array_size(list);) {
		int fd = fd_of(json_array_get(list, i));
		if (fd > STDERR_FILENO && fcntl(fd, F_GETFD) == 0 &&
			fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
			i++;
		else
			json_array_remove(list, i);
	}
}

void takeover_claim(json_t *described)
{
	claim(json_object_get(described, "sockets"));
	claim(json_object_get(described, "connections"));
}

size_t takeover_sockets(const json_t *described, struct server_inherited *ret)
{
	const json_t *entry;
	size_t i, count = 0;
	json_array_foreach (json_object_get(described, "sockets"), i, entry) {
		const char *address = json_string_value(json_object_get(entry, "address"));
		struct server_inherited *to = &ret[count];
		if (!address || strlen(address) >= sizeof to->address ||
			count == SERVER_LISTENERS_MAX)
			continue;
		to->fd = fd_of(entry);
		to->command = json_is_true(json_object_get(entry, "command"));
		to->ours = json_is_true(json_object_get(entry, "ours"));
		snprintf(to->address, sizeof to->address, "%s", address);
		count++;
	}
	return count;
}

static bool flag(const json_t *described, const char *name)
{
	return json_is_true(json_object_get(described, name));
}

static size_t number(const json_t *described, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(described, name));
	return n > 0 ? (size_t)n : 0;
}

/* Bytes of a field, owned by the caller; none if it is absent. NULL: it is invalid, or memory is short. */
static char *bytes(const json_t *described, const char *name, size_t *ret_length)
{
	const char *text = json_string_value(json_object_get(described, name));
	return (char *)base64_decode(text ? text : "", ret_length);
}

static struct arrival parse_arrival(const json_t *described)
{
	const char *by = json_string_value(json_object_get(described, "by"));
	struct arrival a = {.unix_socket = flag(described, "unix"), .by = CONN_TRUST_FOREIGN};
	for (size_t i = 0; by && i < sizeof trusts / sizeof *trusts; i++)
		if (strcmp(trusts[i], by) == 0)
			a.by = (enum conn_trust)i;
	return a;
}

static void begin_conn(struct server *s, const json_t *described)
{
	const struct arrival arrival = parse_arrival(described);
	const char *name = json_string_value(json_object_get(described, "state"));
	int fd = fd_of(described);
	size_t length = 0, out_length = 0;
	char *in = bytes(described, "in", &length), *out = bytes(described, "out", &out_length);
	struct conn *c = in && out ? conn_restore(s, &arrival, flag(described, "authenticated"), fd)
				   : NULL;
	if (!c) {
		free(in);
		free(out);
		close(fd);
		return;
	}
	c->in = in;
	c->in_length = c->in_size = length;
	conn_consume(c, 0); /* frees it if it is empty */
	c->out = out_length > 0 ? out : NULL;
	c->out_length = out_length;
	if (!c->out)
		free(out);
	c->close_after = flag(described, "close");
	c->skip = number(described, "skip");
	c->excess = number(described, "excess");
	c->is_browser = flag(described, "browser");
	c->served = flag(described, "served");
	c->clear = flag(described, "clear");
	c->busy = flag(described, "busy");
	s->busy += c->busy;
	enum conn_state state = CONN_HEAD;
	for (size_t i = 0; name && i < sizeof states / sizeof *states; i++)
		if (strcmp(states[i].name, name) == 0)
			state = states[i].state;
	if (state == CONN_ANSWER)
		http1_send_rest(c);
	else
		conn_continue(c, state);
}

void takeover_begin(struct server *s, const json_t *described)
{
	const json_t *entry;
	size_t i;
	json_array_foreach (json_object_get(described, "connections"), i, entry)
		begin_conn(s, entry);
}
