/*
 * States: there is a link to the node; it has ended, and the client gets what is held, and a close frame; the client is closed.
 * When the client closes first, what it has sent still goes to the node; see node_link_close().
 */
#include "ws/net/node_socket.h"

#include "ring/utf8.h"
#include "ws/net/node_link.h"
#include "ws/socket/terminal.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

_Static_assert(NODE_LINK_QUEUE_MAX > TERMINAL_MESSAGE_MAX, "each message of a client can wait");

/* Bytes that wait for the client. */
struct incoming {
	struct incoming *prev, *next;
	bool binary;
	bool first, last; /* of a text: it begins and ends with them */
	size_t length, sent;
	uint8_t bytes[]; /* FRAMES_HEADROOM, then length */
};

struct node_sockets {
	struct node_links *links;
	struct node_socket *list;
};

struct node_socket {
	struct node_socket *prev, *next;
	struct node_sockets *all; /* NULL: they are closed */
	const struct frames_transport *transport;
	void *transport_user;
	bool (*unreachable)(void *user); /* of the options, as the next */
	void *user;
	struct node_link *link; /* NULL: over */
	struct incoming *held;  /* list */
	bool in_text;           /* a text of the node has begun and not ended */
	bool over;              /* the client is closed after what is held, as follows */
	enum close_code code;
	char reason[64];
};

/* To the client */

/* Close the client once it has got what is held. reason: shown as ASCII, because it may be cut. */
static void close_client(struct node_socket *k, enum close_code code, const char *reason)
{
	if (k->over)
		return;
	k->over = true;
	k->code = code;
	snprintf(k->reason, sizeof k->reason, "%s", reason);
	for (char *at = k->reason; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	k->transport->want(k->transport_user);
}

static bool hold(struct node_socket *k, const struct incoming *like, const void *bytes)
{
	struct incoming *i = malloc(sizeof *i + FRAMES_HEADROOM + like->length);
	if (!i)
		return false;
	*i = *like;
	if (i->length > 0)
		memcpy(i->bytes + FRAMES_HEADROOM, bytes, i->length);
	DL_APPEND(k->held, i);
	return true;
}

static void drop_held(struct node_socket *k)
{
	struct incoming *i = k->held;
	DL_DELETE(k->held, i);
	free(i);
}

/* The kind of a frame with the next length bytes. */
static enum frame_kind kind_of(const struct incoming *i, size_t length)
{
	bool first = i->first && i->sent == 0, last = i->last && i->sent + length == i->length;
	if (i->binary)
		return FRAME_BINARY;
	if (first)
		return last ? FRAME_TEXT : FRAME_TEXT_PART;
	return last ? FRAME_CONTINUATION : FRAME_CONTINUATION_PART;
}

/* Send what is held, as far as there is room, and read the node only if nothing is held any more. */
static void pump(struct node_socket *k)
{
	struct incoming *i;
	size_t room;
	while ((i = k->held) && (room = k->transport->room(k->transport_user)) > 0) {
		size_t left = i->length - i->sent, length = left < room ? left : room;
		/* What has been sent already is the headroom of what follows. */
		if (!k->transport->send(k->transport_user, i->bytes + FRAMES_HEADROOM + i->sent,
			    length, kind_of(i, length)))
			return;
		i->sent += length;
		if (i->sent == i->length)
			drop_held(k);
	}
	if (k->link)
		node_link_pause(k->link, k->held != NULL);
	if (k->over && !k->held)
		k->transport->close(k->transport_user, k->code, k->reason);
}

/* Send an error as the terminal socket does, and close the client. */
static void refuse(
	struct node_socket *k, enum close_code close, const char *code, const char *message)
{
	json_t *json = json_pack(
		"{s:s, s:s, s:s}", "type", "error", "code", code, "message", message);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	/* It cannot be inside of another text. The client is closed in any case. */
	if (text && !k->over && !k->in_text)
		(void)hold(k,
			&(struct incoming){.first = true, .last = true, .length = strlen(text)},
			text);
	free(text);
	close_client(k, close, message);
}

/* There is no link, or the node has refused it with an HTTP status; 0: none. */
static void refuse_status(struct node_socket *k, unsigned status)
{
	static const struct {
		unsigned status;
		enum close_code close;
		const char *code, *message;
	} known[] = {
		{400, CLOSE_GOING_AWAY, "VALIDATION_FAILED",
			"The session's node does not accept the request"},
		{401, CLOSE_ACCESS_ENDED, "UNAUTHENTICATED", "Valid credentials are required"},
		{403, CLOSE_POLICY, "PERMISSION_DENIED", "The session's node does not permit it"},
		{404, CLOSE_SESSION_DELETED, "SESSION_NOT_FOUND", "There is no such session"},
		{414, CLOSE_POLICY, "VALIDATION_FAILED", "The target is too long"},
		{421, CLOSE_GOING_AWAY, "MISDIRECTED", "The session is at another node"},
		{429, CLOSE_GOING_AWAY, "LIMIT_REACHED", "The session's node has reached a limit"},
		{500, CLOSE_GOING_AWAY, "INTERNAL_ERROR", "The session's node has failed"},
		{501, CLOSE_GOING_AWAY, "NOT_IMPLEMENTED", "The session's node cannot do that"},
		{503, CLOSE_GOING_AWAY, "SERVER_BUSY", "The session's node is busy"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].status == status) {
			refuse(k, known[i].close, known[i].code, known[i].message);
			return;
		}
	refuse(k, CLOSE_GOING_AWAY, "NODE_UNREACHABLE", "The session's node cannot be reached");
}

/* The node does not answer, or not any more. This may free k. */
static void lose(struct node_socket *k, bool open)
{
	if (open || k->over || !k->unreachable || !k->unreachable(k->user))
		refuse_status(k, 0);
}

/* From the node */

/* The link is of no use any more: close both ends. */
static void give_up(struct node_socket *k, enum close_code code, const char *reason)
{
	if (k->link)
		node_link_close(k->link, code, reason);
	k->link = NULL;
	close_client(k, code, reason);
}

static void on_piece(void *user, bool binary, const void *bytes, size_t length, bool last)
{
	struct node_socket *k = user;
	struct incoming like = {.binary = binary, .length = length};
	if (!binary) {
		like.first = !k->in_text;
		like.last = last;
	}
	if (length == 0 && !like.last)
		return;
	if (!binary)
		k->in_text = !last;
	if (!hold(k, &like, bytes))
		give_up(k, CLOSE_INTERNAL, "out of memory");
	pump(k);
}

/* Codes of the node that its client gets. libwebsockets reports 1002 for those that it does not know. */
static bool is_for_client(unsigned code)
{
	return code == 1000 || code == 1001 || code == 1003 || (code >= 1007 && code <= 1011) ||
		(code >= 3000 && code <= 4999);
}

static void on_ended(void *user, const struct node_link_end *end)
{
	struct node_socket *k = user;
	k->link = NULL;
	if (!end->open && end->status == 0)
		lose(k, false);
	else if (!end->open)
		refuse_status(k, end->status);
	else if (is_for_client(end->code))
		close_client(k, (enum close_code)end->code, end->reason);
	else
		close_client(k, CLOSE_GOING_AWAY, "the session's node has gone");
}

static const struct node_link_callbacks link_callbacks = {.piece = on_piece, .ended = on_ended};

struct node_socket *node_socket_open(struct node_sockets *all, const struct node_socket_options *o)
{
	struct node_socket *k = calloc(1, sizeof *k);
	if (!k)
		return NULL;
	*k = (struct node_socket){.all = all,
		.transport = o->transport,
		.transport_user = o->transport_user,
		.unreachable = o->unreachable,
		.user = o->user};
	int rc = node_link_open(all->links,
		&(struct node_link_options){.url = o->url,
			.target = o->target,
			.token = o->token,
			.callbacks = &link_callbacks,
			.user = k},
		&k->link);
	if (rc == -ENOMEM) {
		free(k);
		return NULL;
	}
	DL_APPEND(all->list, k);
	if (rc < 0)
		refuse_status(k, rc == -E2BIG ? 414 : 0);
	return k;
}

void node_socket_lose(struct node_socket *k)
{
	bool open = !k->link || node_link_is_open(k->link);
	if (k->link)
		node_link_drop(k->link);
	k->link = NULL;
	if (k->all)
		lose(k, open);
}

/* From the client */

static void pass(struct node_socket *k, bool binary, const void *bytes, size_t length)
{
	int rc = k->link && !k->over ? node_link_send(k->link, binary, bytes, length) : 0;
	if (rc == -ENOBUFS)
		give_up(k, CLOSE_POLICY, "the session's node does not read");
	else if (rc < 0)
		give_up(k, CLOSE_INTERNAL, "out of memory");
}

static void on_binary(void *self, const void *bytes, size_t length)
{
	pass(self, true, bytes, length);
}

/* An invalid text, which the transport of a channel does not notice, would end the link. The node refuses an empty one. */
static void on_text(void *self, const char *text, size_t length)
{
	if (!text || !utf8_is_valid(text, length))
		length = 0;
	pass(self, false, text, length);
}

static void on_writable(void *self)
{
	struct node_socket *k = self;
	if (k->all)
		pump(k);
}

static void on_too_big(void *self)
{
	give_up(self, CLOSE_TOO_BIG, "message too big");
}

static void on_closed(void *self)
{
	struct node_socket *k = self;
	if (k->link)
		node_link_close(k->link, CLOSE_NORMAL, "the client has closed");
	while (k->held)
		drop_held(k);
	if (k->all)
		DL_DELETE(k->all->list, k);
	free(k);
}

const struct frames_protocol node_socket_protocol = {
	.message_max = TERMINAL_MESSAGE_MAX,
	.text_max = TERMINAL_MESSAGE_MAX,
	.writable = on_writable,
	.binary = on_binary,
	.text = on_text,
	.too_big = on_too_big,
	.closed = on_closed,
};

/* All sockets */

struct node_sockets *node_sockets_open(uv_loop_t *loop, const char *ca)
{
	struct node_sockets *all = calloc(1, sizeof *all);
	if (all && node_links_open(loop, ca, &all->links) == 0)
		return all;
	free(all);
	return NULL;
}

void node_sockets_close(struct node_sockets *all)
{
	struct node_socket *k, *next;
	if (!all)
		return;
	DL_FOREACH_SAFE (all->list, k, next) {
		k->all = NULL;
		k->link = NULL;
	}
	all->list = NULL;
	node_links_close(all->links);
}

void node_sockets_free(struct node_sockets *all)
{
	if (!all)
		return;
	node_links_free(all->links);
	free(all);
}
