/* See mux_socket.h. A channel is a transport for its protocol, which is closed and freed in turns of the socket only. */
#include "ws/socket/mux_socket.h"

#include "shell/json_read.h"
#include "ws/access.h"
#include "ws/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

/* A message to the client, about a channel or a pong. */
struct note {
	struct note *prev, *next;
	size_t length;
	uint8_t bytes[]; /* headroom and the message */
};

struct channel {
	UT_hash_handle hh;           /* in mux->channels, by number */
	struct channel *prev, *next; /* in mux->line */
	struct mux_socket *mux;
	uint32_t number;
	const struct frames_protocol *protocol;
	void *self; /* of protocol */
	struct quota_place seat;
	bool in_line;
	enum close_code close_code; /* 0 = open */
	char close_reason[64];
};

struct mux_socket {
	struct mux_sockets all;
	const struct frames_transport *transport;
	void *transport_user;
	struct principal principal;
	char peer[LIMITER_PEER_MAX];
	struct channel *channels; /* table */
	unsigned controls;        /* control sockets among them */
	struct channel *line;     /* list: want to send, or are to be closed */
	struct note *notes;       /* list */
	unsigned notes_count;
	struct mux_reader reader;
	char *text; /* of the frame that is being read, if it is a text */
	size_t text_length;
	bool closing;
};

static void end(struct mux_socket *m, enum close_code code, const char *reason)
{
	if (m->closing)
		return;
	m->closing = true;
	m->transport->close(m->transport_user, code, reason);
}

/* Notes */

/* Add a note; message is owned. */
static void add_note(struct mux_socket *m, json_t *message)
{
	size_t length = message ? json_dumpb(message, NULL, 0, JSON_COMPACT) : 0;
	struct note *n = NULL;
	if (length > 0 && m->notes_count < MUX_NOTES_MAX)
		n = malloc(sizeof *n + FRAMES_HEADROOM + length);
	if (n) {
		n->length = length;
		json_dumpb(message, (char *)n->bytes + FRAMES_HEADROOM, length, JSON_COMPACT);
		DL_APPEND(m->notes, n);
		m->notes_count++;
	} else {
		end(m, CLOSE_POLICY, "messages are not read");
	}
	json_decref(message);
}

static void drop_note(struct mux_socket *m)
{
	struct note *n = m->notes;
	DL_DELETE(m->notes, n);
	m->notes_count--;
	free(n);
}

static void send_notes(struct mux_socket *m)
{
	while (m->notes && !m->closing && m->transport->room(m->transport_user) > 0) {
		struct note *n = m->notes;
		if (!m->transport->send(
			    m->transport_user, n->bytes + FRAMES_HEADROOM, n->length, FRAME_TEXT))
			return;
		drop_note(m);
	}
}

static void note_opened(struct mux_socket *m, uint32_t number)
{
	add_note(m, json_pack("{s:s, s:I}", "type", "opened", "channel", (json_int_t)number));
}

static void note_refused(struct mux_socket *m, uint32_t number, struct refusal why)
{
	add_note(m,
		json_pack("{s:s, s:I, s:i, s:s, s:s}", "type", "refused", "channel",
			(json_int_t)number, "status", why.status, "code", why.code, "message",
			why.message));
}

static void note_closed(struct mux_socket *m, const struct channel *c)
{
	add_note(m,
		json_pack("{s:s, s:I, s:i, s:s}", "type", "closed", "channel", (json_int_t)c->number,
			"code", (int)c->close_code, "reason", c->close_reason));
}

static void note_pong(struct mux_socket *m, json_t *time)
{
	add_note(m,
		json_pack("{s:s, s:O?}", "type", "pong", "t", json_is_number(time) ? time : NULL));
}

/* The transport of a channel */

static void line_up(struct channel *c)
{
	if (!c->in_line)
		DL_APPEND(c->mux->line, c);
	c->in_line = true;
}

static void leave_line(struct channel *c)
{
	if (c->in_line)
		DL_DELETE(c->mux->line, c);
	c->in_line = false;
}

static size_t channel_room(void *user)
{
	struct channel *c = user;
	struct mux_socket *m = c->mux;
	if (c->close_code || m->closing)
		return 0;
	size_t room = m->notes ? 0 : m->transport->room(m->transport_user);
	if (room > MUX_HEAD)
		return room - MUX_HEAD;
	line_up(c);
	return 0;
}

static size_t channel_queued(void *user)
{
	const struct channel *c = user;
	return c->mux->transport->queued(c->mux->transport_user);
}

static bool channel_send(void *user, uint8_t *payload, size_t length, enum frame_kind kind)
{
	struct channel *c = user;
	struct mux_socket *m = c->mux;
	bool part = kind == FRAME_TEXT_PART || kind == FRAME_CONTINUATION_PART;
	enum mux_kind as = kind == FRAME_BINARY ? MUX_BINARY : part ? MUX_TEXT_PART : MUX_TEXT;
	mux_write_head(payload - MUX_HEAD, as, c->number, length);
	return m->transport->send(
		m->transport_user, payload - MUX_HEAD, length + MUX_HEAD, FRAME_BINARY);
}

static void channel_want(void *user)
{
	struct channel *c = user;
	line_up(c);
	if (!c->mux->closing)
		c->mux->transport->want(c->mux->transport_user);
}

static void channel_close(void *user, enum close_code code, const char *reason)
{
	struct channel *c = user;
	if (c->close_code)
		return;
	c->close_code = code;
	snprintf(c->close_reason, sizeof c->close_reason, "%s", reason);
	channel_want(c);
}

static const struct frames_transport channel_transport = {.room = channel_room,
	.queued = channel_queued,
	.send = channel_send,
	.want = channel_want,
	.close = channel_close};

/* Opening and closing */

static const struct refusal too_many_channels = {
	429, "LIMIT_REACHED", "The socket has too many channels"};

/* Remove the channel and close its protocol. */
static void drop_channel(struct channel *c)
{
	struct mux_socket *m = c->mux;
	leave_line(c);
	HASH_DEL(m->channels, c);
	if (c->protocol == &terminal_protocol)
		m->all.metrics->clients--;
	if (c->protocol == &control_socket_protocol)
		m->controls--;
	if (c->self)
		c->protocol->closed(c->self);
	quota_release(&c->seat);
	free(c);
}

static bool acquire_seat(struct mux_socket *m, struct channel *c)
{
	struct access *a = m->all.controls->dispatcher->access;
	return !a || quota_acquire(&a->quotas, QUOTA_TERMINALS, 1, &m->principal, &c->seat);
}

static void open_elsewhere(
	struct channel *c, const struct request *r, const struct terminal_query *q)
{
	struct mux_socket *m = c->mux;
	const struct terminal_elsewhere *e = m->all.terminals->elsewhere;
	const struct terminal_opening opening = {.query = q,
		.params = r->params,
		.params_count = r->params_count,
		.principal = &m->principal,
		.peer = m->peer,
		.transport = &channel_transport,
		.transport_user = c};
	c->protocol = e->protocol;
	c->self = e->open(e->user, &opening);
}

/* Check a request for a terminal, and open it. */
static struct refusal open_terminal(struct channel *c, const struct request *r)
{
	struct mux_socket *m = c->mux;
	struct terminal_query q;
	struct refusal why = terminal_query_parse(r->params, r->params_count, &q);
	if (!why.status && !acquire_seat(m, c))
		why = (struct refusal){429, "QUOTA_REACHED",
			"This link, or all links together, have as many as they may"};
	bool elsewhere = !why.status && terminal_is_elsewhere(m->all.terminals, &q, &m->principal);
	if (!why.status && !elsewhere)
		why = terminal_check(m->all.terminals, &q, &m->principal);
	if (why.status)
		return why;
	note_opened(m, c->number);
	send_notes(m);
	if (elsewhere) {
		open_elsewhere(c, r, &q);
		return why;
	}
	c->protocol = &terminal_protocol;
	m->all.metrics->clients++;
	c->self = terminal_open(m->all.terminals, &q, &m->principal, &channel_transport, c);
	return why;
}

static struct refusal open_control(struct channel *c)
{
	struct mux_socket *m = c->mux;
	if (m->controls >= MUX_CONTROLS_MAX)
		return too_many_channels;
	m->controls++;
	note_opened(m, c->number);
	send_notes(m);
	c->protocol = &control_socket_protocol;
	c->self = control_socket_open(
		m->all.controls, &m->principal, m->peer, &channel_transport, c);
	return (struct refusal){0};
}

static struct refusal open_target(struct channel *c, const char *target)
{
	struct request *r = request_create();
	struct refusal why = {500, "OUT_OF_MEMORY", "Out of memory"};
	int rc = r ? request_parse_target(r, target) : 0;
	if (!r)
		return why;
	if (rc < 0)
		why = (struct refusal){400, "VALIDATION_FAILED", "The path is invalid"};
	else if (strcmp(r->path, "/ws/pty") == 0)
		why = open_terminal(c, r);
	else if (strcmp(r->path, "/ws") == 0)
		why = open_control(c);
	else
		why = (struct refusal){404, "UNKNOWN_ERROR", "A channel is /ws/pty or /ws"};
	request_unref(r);
	return why;
}

static struct channel *create_channel(struct mux_socket *m, uint32_t number)
{
	struct channel *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->mux = m;
	c->number = number;
	HASH_ADD(hh, m->channels, number, sizeof c->number, c);
	if (c->hh.tbl)
		return c;
	free(c);
	return NULL;
}

static void open_channel(struct mux_socket *m, uint32_t number, const char *target)
{
	/* The transport checks it later, once a second. */
	if (!access_is_current(m->all.controls->dispatcher->access, &m->principal)) {
		end(m, CLOSE_ACCESS_ENDED, "access ended");
		return;
	}
	if (HASH_COUNT(m->channels) >= MUX_CHANNELS_MAX) {
		note_refused(m, number, too_many_channels);
		return;
	}
	struct channel *c = create_channel(m, number);
	if (!c) {
		note_refused(m, number, (struct refusal){500, "OUT_OF_MEMORY", "Out of memory"});
		return;
	}
	struct refusal why = open_target(c, target);
	if (why.status) {
		note_refused(m, number, why);
		drop_channel(c);
	} else if (!c->self) {
		channel_close(c, CLOSE_INTERNAL, "out of memory");
	}
}

static struct channel *find_channel(struct mux_socket *m, uint32_t number)
{
	struct channel *c;
	HASH_FIND(hh, m->channels, &number, sizeof number, c);
	return c;
}

/* The socket's side */

/* Process a message; unknown types are ignored. Returns false if it is invalid. */
static bool take_message(struct mux_socket *m, const json_t *root)
{
	const char *type = json_string_value(json_object_get(root, "type"));
	json_int_t number = json_integer_value(json_object_get(root, "channel"));
	const char *path = json_string_value(json_object_get(root, "path"));
	bool opens = type && strcmp(type, "open") == 0, closes = type && strcmp(type, "close") == 0;
	if (type && strcmp(type, "ping") == 0)
		note_pong(m, json_object_get(root, "t"));
	if (!type || (!opens && !closes))
		return type;
	if (number < 1 || number > (json_int_t)MUX_CHANNEL_MAX || (opens && !path))
		return false;
	struct channel *c = find_channel(m, (uint32_t)number);
	if (opens && c)
		return false;
	if (opens)
		open_channel(m, (uint32_t)number, path);
	else if (c)
		drop_channel(c);
	return true;
}

static void on_text(void *self, const char *text, size_t length)
{
	struct mux_socket *m = self;
	if (m->closing)
		return;
	json_t *root = text ? json_read(text, length, 0, NULL) : NULL;
	if (!take_message(m, root))
		end(m, CLOSE_POLICY, "invalid message");
	json_decref(root);
	send_notes(m);
}

/* Collect a text, and pass it on when it is complete. */
static void take_text(struct mux_socket *m, struct channel *c, const struct mux_piece *p)
{
	bool fits = p->length <= c->protocol->text_max;
	if (p->first && fits)
		m->text = malloc((size_t)p->length + 1);
	if (p->first)
		m->text_length = 0;
	if (m->text) {
		memcpy(m->text + m->text_length, p->bytes, p->size);
		m->text_length += p->size;
		m->text[m->text_length] = '\0';
	}
	if (!p->last)
		return;
	char *text = m->text;
	m->text = NULL;
	if (fits && !text)
		channel_close(c, CLOSE_INTERNAL, "out of memory");
	else
		c->protocol->text(c->self, text, p->length);
	free(text);
}

static void take_piece(struct mux_socket *m, const struct mux_piece *p)
{
	struct channel *c = find_channel(m, p->channel);
	/* Frames to a channel that has been closed meanwhile are dropped. */
	if (!c || c->close_code || !c->self)
		return;
	bool text = p->kind == MUX_TEXT || !c->protocol->binary;
	if (p->length > (text ? MUX_TEXT_MAX : c->protocol->message_max)) {
		m->all.metrics->frames_oversized++;
		c->protocol->too_big(c->self);
	} else if (!text) {
		c->protocol->binary(c->self, p->bytes, p->size);
	} else {
		take_text(m, c, p);
	}
}

static void on_binary(void *self, const void *bytes, size_t length)
{
	struct mux_socket *m = self;
	const uint8_t *at = bytes, *stop = at + length;
	struct mux_piece p;
	int rc = 0;
	while (!m->closing && (rc = mux_read(&m->reader, &at, stop, &p)) > 0 &&
		p.kind != MUX_TEXT_PART) {
		if (p.first) {
			free(m->text); /* its channel was closed in the middle of it */
			m->text = NULL;
		}
		take_piece(m, &p);
	}
	if (rc != 0)
		end(m, CLOSE_POLICY, "invalid frame");
}

/* The channel's protocol has closed it. */
static void end_channel(struct channel *c)
{
	struct mux_socket *m = c->mux;
	note_closed(m, c);
	drop_channel(c);
	send_notes(m);
}

static bool can_send(const struct mux_socket *m)
{
	return !m->closing && !m->notes && m->transport->room(m->transport_user) > 0;
}

static void on_writable(void *self)
{
	struct mux_socket *m = self;
	struct channel *c;
	size_t turns;
	DL_COUNT(m->line, c, turns);
	send_notes(m);
	/* Each channel that waits has one turn; others may line up meanwhile. */
	for (; turns > 0 && m->line && can_send(m); turns--) {
		c = m->line;
		leave_line(c);
		if (c->close_code)
			end_channel(c);
		else
			c->protocol->writable(c->self);
	}
	if ((m->line || m->notes) && !m->closing)
		m->transport->want(m->transport_user);
}

static void on_too_big(void *self)
{
	end(self, CLOSE_TOO_BIG, "message too big");
}

static void on_closed(void *self)
{
	struct mux_socket *m = self;
	struct channel *c, *next;
	m->closing = true;
	HASH_ITER (hh, m->channels, c, next)
		drop_channel(c);
	while (m->notes)
		drop_note(m);
	free(m->text);
	m->all.metrics->mux_sockets--;
	free(m);
}

const struct frames_protocol mux_socket_protocol = {
	.message_max = CONTROL_MESSAGE_MAX,
	.text_max = MUX_MESSAGE_MAX,
	.writable = on_writable,
	.binary = on_binary,
	.text = on_text,
	.too_big = on_too_big,
	.closed = on_closed,
};

struct mux_socket *mux_socket_open(const struct mux_sockets *all, const struct principal *principal,
	const char *peer, const struct frames_transport *transport, void *transport_user)
{
	struct mux_socket *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	m->all = *all;
	m->transport = transport;
	m->transport_user = transport_user;
	m->principal = *principal;
	snprintf(m->peer, sizeof m->peer, "%s", peer);
	all->metrics->mux_sockets++;
	return m;
}
