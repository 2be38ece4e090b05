/*
 * Describes connections by their states and the bytes in front of those in the kernel. A request that waits, or whose body is
 * being received, becomes such bytes again.
 */
#include "ws/net/takeover.h"

#include "shell/clock.h"
#include "shell/name.h"
#include "ws/access.h"
#include "ws/net/exchange.h"
#include "ws/net/http1.h"
#include "ws/net/http_repeat.h"
#include "ws/net/local_socket.h"
#include "ws/net/relay.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_SIZE_MIN ((size_t)4096)
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

/* Whether the request of c waits for its answer, and another server can be asked for it. ret_repeat: NULL: not wanted. */
static bool can_be_asked(const struct conn *c, struct request_repeat *ret_repeat)
{
	const struct exchange *x = c->exchange;
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
	return can_be_asked(c, NULL)      ? NULL
		: x->request->upload.live ? &work->uploads
					  : &work->requests;
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

/* Append bytes. Does nothing if memory was short before. */
static void add_bytes(struct takeover *t, const void *bytes, size_t length)
{
	size_t size = t->size > 0 ? t->size : BYTES_SIZE_MIN;
	if (length == 0 || t->is_short)
		return;
	while (size - t->length < length)
		size *= 2;
	if (size > t->size) {
		char *grown = realloc(t->bytes, size);
		t->is_short = !grown;
		if (!grown)
			return;
		t->bytes = grown;
		t->size = size;
	}
	memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
}

/* Add a request that has begun, as the bytes that it came from: a head, its body, and what follows it. */
static void add_request(struct takeover *t, const struct conn *c, const struct http_repeat *change,
	const char *body, size_t length)
{
	const struct exchange *x = c->exchange;
	size_t head_length = x->head_length;
	char *head = change ? http_repeat_head(x->head, x->head_length, change, &head_length) : NULL;
	t->is_short = t->is_short || (change && !head);
	add_bytes(t, head ? head : x->head, head_length);
	add_bytes(t, body, length);
	add_bytes(t, c->in, c->in_length);
	free(head);
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

/* Add a request that waits for its answer. */
static void add_waiting(
	struct takeover *t, const struct conn *c, const struct request_repeat *repeat)
{
	const struct request *r = c->exchange->request;
	char *target = repeat->target ? add_link(r, repeat->target) : NULL;
	bool now_get = repeat->method && strcmp(repeat->method, "GET") == 0;
	const char *body = repeat->body ? repeat->body : now_get ? NULL : r->body;
	size_t length = repeat->body ? strlen(repeat->body) : body ? r->body_length : 0;
	struct http_repeat change = {.method = repeat->method,
		.target = target,
		.has_body = body != NULL,
		.body_length = length};
	t->is_short = t->is_short || (repeat->target && !target);
	add_request(t, c, change.method || target || body ? &change : NULL, body, length);
	free(target);
}

/* Add a request whose body is being received. */
static void add_body(struct takeover *t, const struct conn *c)
{
	const struct exchange *x = c->exchange;
	struct http_repeat change = {.has_body = true, .body_length = x->body_size};
	add_request(t, c, &change, x->request->body, x->body_got);
}

/* Add what is left to send of an answer. */
static void add_rest(struct takeover *t, const struct conn *c)
{
	const struct exchange *x = c->exchange;
	add_bytes(t, c->out + c->out_sent, c->out_length - c->out_sent);
	if (x)
		add_bytes(t, x->request->reply.body + x->sent, exchange_length(x) - x->sent);
}

static const char *state_name(enum conn_state state)
{
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (states[i].state == state)
			return states[i].name;
	return "head";
}

/* The description of c in this state. at: where its bytes are in t: those to read, and behind them those to send. */
static json_t *describe(const struct takeover *t, const struct conn *c, enum conn_state state,
	size_t at, size_t out)
{
	const struct exchange *x = c->exchange;
	/* A head that is read again tells what to skip. */
	size_t skip = state == CONN_HEAD && c->state != CONN_HEAD ? 0 : c->skip;
	return json_pack(
		"{s:i, s:b, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:b, s:b}", "fd",
		c->fd, "unix", (int)c->arrival.unix_socket, "by", trusts[c->arrival.by], "state",
		state_name(state), "at", (json_int_t)at, "in", (json_int_t)(t->length - at - out),
		"out", (json_int_t)out, "skip", (json_int_t)skip, "excess", (json_int_t)c->excess,
		"browser", (int)c->is_browser, "served", (int)c->served, "clear", (int)c->clear,
		"busy", (int)c->busy, "close", (int)(x ? x->close_after : c->close_after),
		"authenticated", (int)(c->unauthenticated == NULL));
}

/* Add c if it can be handed over, and set c->leaves. rests: bytes of all answers so far. Returns false when memory is short. */
static bool add_conn(struct takeover *t, json_t *list, struct conn *c, size_t *rests)
{
	size_t at = t->length, rest = 0;
	struct request_repeat repeat = {0};
	enum conn_state state = c->state;
	c->leaves = true;
	if (state == CONN_SILENT || state == CONN_LINGER || (state == CONN_HEAD && !c->ssl)) {
		add_bytes(t, c->in, c->in_length);
	} else if (has_rest(c, &rest) && (*rests += rest) <= RESTS_MAX) {
		add_bytes(t, c->in, c->in_length);
		add_rest(t, c);
	} else if (takeover_has_body(c)) {
		add_body(t, c);
		state = CONN_HEAD;
	} else if (can_be_asked(c, &repeat)) {
		add_waiting(t, c, &repeat);
		state = CONN_HEAD;
	} else {
		c->leaves = false;
	}
	request_repeat_finish(&repeat);
	return !t->is_short &&
		(!c->leaves || json_array_append_new(list, describe(t, c, state, at, rest)) == 0);
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

bool takeover_describe(struct server *s, struct takeover *ret)
{
	json_t *sockets = json_array(), *connections = json_array();
	size_t rests = 0;
	*ret = (struct takeover){
		.json = json_pack("{s:o, s:o}", "sockets", sockets, "connections", connections)};
	bool good = ret->json;
	for (size_t i = 0; good && i < s->listeners_count; i++)
		good = add_listener(sockets, &s->listeners[i]);
	for (struct conn *c = conns_first(s); good && c; c = c->next)
		good = add_conn(ret, connections, c, &rests);
	if (!good)
		takeover_finish(ret);
	return good;
}

void takeover_finish(struct takeover *t)
{
	json_decref(t->json);
	free(t->bytes);
	*t = (struct takeover){0};
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

void takeover_leave(struct server *s, const struct takeover *t)
{
	const json_t *entry;
	size_t i;
	json_array_foreach (json_object_get(t->json, "sockets"), i, entry)
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

void takeover_claim(struct takeover *t)
{
	claim(json_object_get(t->json, "sockets"));
	claim(json_object_get(t->json, "connections"));
}

size_t takeover_sockets(const struct takeover *t, struct server_inherited *ret)
{
	const json_t *entry;
	size_t i, count = 0;
	json_array_foreach (json_object_get(t->json, "sockets"), i, entry) {
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

void takeover_abandon(const struct takeover *t, const char *runtime_dir)
{
	char path[PATH_MAX];
	const json_t *entry;
	size_t i;
	json_array_foreach (json_object_get(t->json, "sockets"), i, entry) {
		const char *address = json_string_value(json_object_get(entry, "address"));
		if (!address || strncmp(address, "unix:", 5) != 0 ||
			!json_is_true(json_object_get(entry, "ours")))
			continue;
		/* The command line's may be named by a descriptor that is closed now. */
		bool command = json_is_true(json_object_get(entry, "command"));
		snprintf(path, sizeof path, "%s%s", command ? runtime_dir : address + 5,
			command ? "/" LOCAL_SOCKET_NAME : "");
		unlink(path);
	}
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

/* Copy bytes of t, if there are any. Returns false if there are not so many, or memory is short. */
static bool copy(const struct takeover *t, size_t at, size_t length, char **ret_bytes)
{
	*ret_bytes = NULL;
	if (at > t->length || length > t->length - at)
		return false;
	if (length == 0)
		return true;
	*ret_bytes = malloc(length + 1);
	if (*ret_bytes)
		memcpy(*ret_bytes, t->bytes + at, length);
	return *ret_bytes;
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

static void begin_conn(struct server *s, const struct takeover *t, const json_t *described)
{
	const struct arrival arrival = parse_arrival(described);
	const char *name = json_string_value(json_object_get(described, "state"));
	int fd = fd_of(described);
	size_t at = number(described, "at"), length = number(described, "in");
	size_t out_length = number(described, "out");
	char *in = NULL, *out = NULL;
	struct conn *c = NULL;
	if (copy(t, at, length, &in) && copy(t, at + length, out_length, &out))
		c = conn_restore(s, &arrival, flag(described, "authenticated"), fd);
	if (!c) {
		free(in);
		free(out);
		close(fd);
		return;
	}
	c->in = in;
	c->in_length = c->in_size = length;
	c->out = out;
	c->out_length = out_length;
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

void takeover_begin(struct server *s, const struct takeover *t)
{
	const json_t *entry;
	size_t i;
	json_array_foreach (json_object_get(t->json, "connections"), i, entry)
		begin_conn(s, t, entry);
}
