/* A WebSocket at /rpc: its frames, its engine, and the jobs of its calls. */
#include "ws/rpc/socket.h"

#include "ws/rpc/json_work.h"
#include "ws/rpc/engine.h"
#include "ws/rpc/job.h"
#include "ws/rpc/methods.h"
#include "ws/rpc/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct rpc_socket {
	struct rpc_socket *prev, *next;
	struct rpc_sockets *all;
	const struct frames_transport *transport;
	void *transport_user;
	struct principal principal;
	char peer[LIMITER_PEER_MAX];
	struct rpc_engine *engine;
	struct jobs jobs;
	char *text; /* the message being sent; owned; NULL: none */
	size_t length, sent;
	struct json_work *json_work; /* writes the next text in a thread; NULL: none */
	bool busy;                   /* pump() runs, or is about to */
	bool closing;
};

int rpc_sockets_open(struct rpc_sockets *all, struct dispatcher *dispatcher, struct metrics *metrics)
{
	*all = (struct rpc_sockets){.dispatcher = dispatcher, .metrics = metrics};
	all->scratch = malloc(FRAMES_HEADROOM + FRAMES_PAYLOAD_MAX);
	return all->scratch ? 0 : -ENOMEM;
}

void rpc_sockets_close(struct rpc_sockets *all)
{
	free(all->scratch);
	all->scratch = NULL;
}

static void close_transport(struct rpc_socket *k, enum close_code code, const char *reason)
{
	if (k->closing)
		return;
	k->closing = true;
	k->transport->close(k->transport_user, code, reason);
}

/* Callbacks of the engine */

static enum rpc_member find_member(void *user, const char *space, const char *method)
{
	(void)user;
	return !methods_find(space, method) ? RPC_NOTHING : method ? RPC_METHOD : RPC_SPACE;
}

static void on_call(void *user, struct rpc_call *call)
{
	struct rpc_socket *k = user;
	job_start(&k->jobs, call);
}

static void on_cancelled(void *user, struct rpc_call *call)
{
	(void)user;
	job_cancel(rpc_call_data(call));
}

static const struct rpc_callbacks callbacks = {
	.member = find_member, .call = on_call, .cancelled = on_cancelled};

/* Sending */

/* Send as much of the message as fits. Returns the number of bytes; 0: the connection is lost. */
static size_t send_piece(struct rpc_socket *k, size_t room)
{
	uint8_t *payload = k->all->scratch + FRAMES_HEADROOM;
	size_t rest = k->length - k->sent, n = rest < room ? rest : room;
	n = n < FRAMES_PAYLOAD_MAX ? n : FRAMES_PAYLOAD_MAX;
	bool first = k->sent == 0, last = n == rest;
	memcpy(payload, k->text + k->sent, n);
	k->sent += n;
	if (last) {
		free(k->text);
		k->text = NULL;
	}
	enum frame_kind kind = first ? (last ? FRAME_TEXT : FRAME_TEXT_PART)
				     : (last ? FRAME_CONTINUATION : FRAME_CONTINUATION_PART);
	if (k->transport->send(k->transport_user, payload, n, kind))
		return n;
	k->closing = true;
	return 0;
}

static void pump(struct rpc_socket *k);

/* A thread has written a large message. */
static void on_written(void *user, char *text, size_t length)
{
	struct rpc_socket *k = user;
	k->json_work = NULL;
	k->text = text;
	k->length = length;
	k->sent = 0;
	if (!text)
		rpc_engine_abort(k->engine, "out of memory");
	if (!k->closing)
		pump(k);
}

/* Write the next message as text, if there is one; if it is large, in a thread. */
static void next_text(struct rpc_socket *k)
{
	json_t *message = rpc_engine_next(k->engine);
	if (!message)
		return;
	if (wire_cost(message) >= JSON_WORK_MIN)
		k->json_work = json_work_write(
			k->all->dispatcher->sessions->loop, message, on_written, k);
	k->sent = 0;
	if (!k->json_work) {
		k->text = json_work_write_now(message, &k->length);
		if (!k->text)
			rpc_engine_abort(k->engine, "out of memory");
	}
	json_decref(message);
}

/* Send messages while the transport accepts bytes. */
static void pump(struct rpc_socket *k)
{
	size_t sent = 0, room;
	k->busy = true;
	while (!k->closing && !k->json_work && (room = k->transport->room(k->transport_user)) > 0) {
		if (sent >= RPC_TURN_MAX) {
			k->transport->want(k->transport_user);
			break;
		}
		jobs_run(&k->jobs);
		if (!k->text)
			next_text(k);
		if (k->json_work)
			break;
		if (!k->text && rpc_engine_has_next(k->engine))
			continue; /* one stream had no data; try the next */
		if (!k->text)
			break;
		sent += send_piece(k, room);
	}
	k->busy = false;
	/* The abort message has been sent, if it could be. */
	if (rpc_engine_aborted(k->engine) && !k->json_work)
		close_transport(k, CLOSE_POLICY, rpc_engine_aborted(k->engine));
}

static void on_due(void *user)
{
	struct rpc_socket *k = user;
	if (!k->busy && !k->closing)
		k->transport->want(k->transport_user);
}

static void on_writable(void *self)
{
	pump(self);
}

/* Receiving */

static void on_text(void *self, const char *text, size_t length)
{
	struct rpc_socket *k = self;
	if (k->closing)
		return;
	k->busy = true;
	rpc_engine_receive(k->engine, text, length);
	pump(k);
}

/* A message that was parsed in a thread. */
struct parsed {
	int error;
	json_t *message; /* owned; NULL with an error */
};

static void *on_read(const char *text, size_t length)
{
	struct parsed *p = calloc(1, sizeof *p);
	if (p)
		p->error = wire_parse(text, length, &p->message);
	return p;
}

static void on_forget(void *sense)
{
	struct parsed *p = sense;
	if (p)
		json_decref(p->message);
	free(p);
}

static void on_take(void *self, void *sense, const char *text, size_t length)
{
	struct rpc_socket *k = self;
	struct parsed *p = sense;
	(void)text;
	(void)length;
	if (k->closing) {
		on_forget(p);
		return;
	}
	k->busy = true;
	rpc_engine_receive_parsed(k->engine, p ? p->error : -ENOMEM, p ? p->message : NULL);
	free(p);
	pump(k);
}

static void on_binary(void *self, const void *bytes, size_t length)
{
	struct rpc_socket *k = self;
	(void)bytes;
	(void)length;
	if (k->closing)
		return;
	rpc_engine_abort(k->engine, "binary message: messages must be text");
	pump(k);
}

static void on_too_big(void *self)
{
	struct rpc_socket *k = self;
	if (k->closing)
		return;
	rpc_engine_abort(k->engine, "the message is too large");
	pump(k);
}

static void on_closed(void *self)
{
	struct rpc_socket *k = self;
	k->closing = true;
	DL_DELETE(k->all->list, k);
	json_work_detach(k->json_work);
	rpc_engine_destroy(k->engine);
	free(k->text);
	k->all->metrics->rpc_sockets--;
	free(k);
}

const struct frames_protocol rpc_socket_protocol = {
	.message_max = RPC_MESSAGE_MAX,
	.text_max = RPC_MESSAGE_MAX,
	.writable = on_writable,
	.binary = on_binary,
	.text = on_text,
	.read = on_read,
	.take = on_take,
	.forget = on_forget,
	.too_big = on_too_big,
	.closed = on_closed,
};

struct rpc_socket *rpc_socket_open(struct rpc_sockets *all, const struct principal *principal,
	const char *peer, const struct frames_transport *transport, void *transport_user)
{
	struct rpc_socket *k = calloc(1, sizeof *k);
	if (!k)
		return NULL;
	k->engine = rpc_engine_create(&callbacks, k);
	if (!k->engine) {
		free(k);
		return NULL;
	}
	k->all = all;
	k->transport = transport;
	k->transport_user = transport_user;
	k->principal = *principal;
	snprintf(k->peer, sizeof k->peer, "%s", peer);
	k->jobs = (struct jobs){.dispatcher = all->dispatcher,
		.principal = &k->principal,
		.peer = k->peer,
		.due = on_due,
		.user = k};
	DL_APPEND(all->list, k);
	all->metrics->rpc_sockets++;
	return k;
}

void rpc_sockets_sweep(struct rpc_sockets *all, unsigned quiet_s)
{
	struct rpc_socket *k, *next;
	DL_FOREACH_SAFE (all->list, k, next)
		jobs_sweep(&k->jobs, quiet_s);
}
