/*
 * Shared by the fuzz targets of connections: the server's border (its connections, limits and dispatcher), with a few routes that
 * answer at once or in the next turn of the loop, independent of time. Input arrives by a socket pair, like an accepted connection.
 *
 *   PUT /take?later=1&pause=1&answer=N      receives a body as a stream: begins in the next turn, pauses after each piece, or
 *                                           answers after N bytes
 *   PUT /bounded                            receives at most BORDER_BOUNDED bytes
 *   POST /whole?later=1                     receives a whole body
 *   GET /give?length=N&unknown=1&pause=1&fail=N   sends N bytes of BORDER_GIVEN
 *   GET /events?count=N                     sends N events, one in each turn
 *
 * The client is the owner on the command line's socket; on the others it needs BORDER_TOKEN. Every input must leave nothing behind.
 */
#pragma once

#include "tests/fuzz/fuzz_folder.h"

#include "ws/access.h"
#include "ws/dispatcher.h"
#include "ws/log.h"
#include "ws/net/conn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <utlist.h>

#define BORDER_TOKEN "token-of-the-fuzz-targets"
#define BORDER_BOUNDED 1000u
#define BORDER_GIVEN 'g'
#define BORDER_TURNS_MAX 20000u             /* an input that takes more turns loops for ever */
#define BORDER_LENGTH_MAX ((size_t)8 << 20) /* bytes of all answers to one input */

/* A pending request of a handler, and its work in the next turn. */
struct border_work {
	struct border_work *prev, *next;
	struct request *request;             /* our reference */
	void (*turn)(struct border_work *w); /* NULL: nothing */
	uint64_t bytes, answer_at, left, fail_at;
	bool pauses, rested;
};

static struct {
	uv_loop_t loop;
	struct sessions sessions; /* empty */
	struct metrics metrics;
	struct auth auth;
	struct access access;
	struct dispatcher dispatcher;
	struct terminals terminals;
	struct control_sockets controls;
	struct rpc_sockets rpcs;
	struct server *server;
	struct border_work *works; /* list */
} border;

/* Handlers */

static inline uint64_t border_number(const struct request *r, const char *name, uint64_t otherwise)
{
	const char *text = request_param(r, name);
	uint64_t n;
	return text && params_number(text, INT64_MAX, &n) ? n : otherwise;
}

static inline struct border_work *border_begin(struct request *r)
{
	struct border_work *w = fuzz_alloc(sizeof *w);
	*w = (struct border_work){.request = request_ref(r)};
	DL_APPEND(border.works, w);
	return w;
}

static inline void border_end(struct border_work *w)
{
	DL_DELETE(border.works, w);
	request_unref(w->request);
	free(w);
}

static inline void border_resume(struct border_work *w)
{
	w->turn = NULL;
	upload_resume(w->request);
}

static inline void border_on_piece(void *user, const char *bytes, size_t length)
{
	struct border_work *w = user;
	FUZZ_CHECK(length > 0 && bytes && !w->turn);
	w->bytes += length;
	if (w->bytes >= w->answer_at) {
		reply_error(w->request, "NO_SPACE", "Received the bytes of ?answer=", NULL);
		border_end(w);
	} else if (w->pauses) {
		upload_pause(w->request);
		w->turn = border_resume;
	}
}

static inline void border_on_complete(void *user)
{
	struct border_work *w = user;
	uint64_t length = upload_length(w->request);
	FUZZ_CHECK(!w->turn && (length == UPLOAD_UNKNOWN || length == w->bytes));
	reply_json(w->request, 200, json_pack("{s:I}", "bytes", (json_int_t)w->bytes));
	border_end(w);
}

static inline void border_on_broken(void *user, enum upload_end why)
{
	(void)why;
	border_end(user);
}

static inline void border_take_now(struct border_work *w)
{
	w->turn = NULL;
	upload_begin(w->request,
		&(struct upload_sink){.piece = border_on_piece,
			.complete = border_on_complete,
			.broken = border_on_broken,
			.user = w});
}

static inline void border_take(struct request *r)
{
	struct border_work *w = border_begin(r);
	w->answer_at = border_number(r, "answer", UINT64_MAX);
	w->pauses = request_param(r, "pause") != NULL;
	if (request_param(r, "later"))
		w->turn = border_take_now;
	else
		border_take_now(w);
}

static inline void border_answer_whole(struct border_work *w)
{
	reply_json(
		w->request, 200, json_pack("{s:I}", "bytes", (json_int_t)w->request->body_length));
	border_end(w);
}

static inline void border_whole(struct request *r)
{
	struct border_work *w = border_begin(r);
	FUZZ_CHECK(r->body_length == 0 || r->body[r->body_length] == '\0');
	if (request_param(r, "later"))
		w->turn = border_answer_whole;
	else
		border_answer_whole(w);
}

static inline void border_more(struct border_work *w)
{
	w->turn = NULL;
	w->rested = true;
	download_more(w->request);
}

static inline enum download_state border_next(void *user, const char **ret_bytes, size_t *ret_length)
{
	static char given[4096];
	struct border_work *w = user;
	memset(given, BORDER_GIVEN, sizeof given);
	if (w->bytes >= w->fail_at)
		return DOWNLOAD_FAILED;
	if (w->pauses && !w->rested) {
		w->turn = border_more;
		return DOWNLOAD_WAIT;
	}
	w->rested = false;
	size_t size = w->left < sizeof given ? (size_t)w->left : sizeof given;
	if (size == 0)
		return DOWNLOAD_END;
	w->left -= size;
	w->bytes += size;
	*ret_bytes = given;
	*ret_length = size;
	return DOWNLOAD_PIECE;
}

static inline void border_closed(void *user)
{
	border_end(user);
}

static inline void border_give(struct request *r)
{
	struct border_work *w = border_begin(r);
	w->left = border_number(r, "length", 0) & 0x3ffff;
	w->pauses = request_param(r, "pause") != NULL;
	w->fail_at = border_number(r, "fail", UINT64_MAX);
	download_reply(r, 200, "application/octet-stream",
		request_param(r, "unknown") ? DOWNLOAD_UNKNOWN : w->left,
		&(struct download_source){.next = border_next, .closed = border_closed, .user = w});
}

static inline void border_send_event(struct border_work *w)
{
	w->turn = NULL;
	if (w->left == 0) {
		reply_stream_complete(w->request);
	} else {
		w->rested = true;
		reply_stream_more(w->request);
	}
}

static inline char *border_event(void *user)
{
	struct border_work *w = user;
	if (!w->rested || w->left == 0)
		return NULL;
	w->rested = false;
	w->left--;
	w->turn = border_send_event;
	return strdup("{\"type\":\"tick\"}");
}

static inline void border_events(struct request *r)
{
	struct border_work *w = border_begin(r);
	w->left = border_number(r, "count", 0) & 0xff;
	w->turn = border_send_event;
	reply_stream(r,
		&(struct event_stream){.next = border_event, .closed = border_closed, .user = w});
}

static const struct route_row border_rows[] = {
	{METHOD_PUT, "/take", ROUTE_OWNER, .plain = border_take, .upload = true},
	{METHOD_PUT, "/bounded", ROUTE_OWNER, .plain = border_take, .upload = true,
		.upload_max = BORDER_BOUNDED},
	{METHOD_POST, "/whole", ROUTE_OWNER, .plain = border_whole},
	{METHOD_POST, "/anybody", ROUTE_PUBLIC, .plain = border_whole},
	{METHOD_GET, "/give", ROUTE_OWNER, .plain = border_give},
	{METHOD_GET, "/events", ROUTE_OWNER, .plain = border_events},
	{.path = NULL},
};

/* Server */

static inline void border_open_sockets(void)
{
	FUZZ_CHECK(terminals_open(&border.terminals, &border.sessions, &border.metrics) == 0);
	FUZZ_CHECK(control_sockets_open(&border.controls, &border.dispatcher, &border.metrics) == 0);
	FUZZ_CHECK(rpc_sockets_open(&border.rpcs, &border.dispatcher, &border.metrics) == 0);
}

static inline void border_listen(void)
{
	char path[64];
	const char *const listen[] = {"127.0.0.1:0", path};
	snprintf(path, sizeof path, "unix:%s/listen", fuzz_folder);
	const struct server_options options = {.loop = &border.loop,
		.dispatcher = &border.dispatcher,
		.auth = &border.auth,
		.terminals = &border.terminals,
		.controls = &border.controls,
		.rpcs = &border.rpcs,
		.metrics = &border.metrics,
		.listen = listen,
		.listen_count = 2,
		.runtime_dir = fuzz_folder,
		.header_timeout_s = 3600,
		.ping_interval_s = 3600,
		.max_connections = 256};
	FUZZ_CHECK(server_open(&options, &border.server) == 0);
}

/* Open it once for each process; it is never closed. */
static inline void border_open(void)
{
	if (border.server)
		return;
	close(fuzz_folder_make());
	signal(SIGPIPE, SIG_IGN);
	log_set_level(LOG_ERROR);
	uv_loop_init(&border.loop);
	border.sessions.loop = &border.loop;
	border.sessions.config.runtime_dir = fuzz_folder;
	border.dispatcher = (struct dispatcher){
		.sessions = &border.sessions, .metrics = &border.metrics, .access = &border.access};
	routes_add(&border.dispatcher.routes, border_rows, NULL);
	const struct auth_options auth = {.runtime_dir = fuzz_folder, .token = BORDER_TOKEN};
	FUZZ_CHECK(auth_open(&border.auth, &auth) == 0);
	border_open_sockets();
	access_open(&border.access, &border.auth, 256);
	border_listen();
}

/* Connections */

struct border_answers {
	char *bytes; /* NUL-terminated; owned */
	size_t length, size;
	bool ended; /* the connection is closed */
};

static inline const struct listener *border_listener(bool command, bool unix_socket)
{
	const struct server *s = border.server;
	for (size_t i = 0; i < s->listeners_count; i++)
		if (s->listeners[i].command == command && s->listeners[i].unix_socket == unix_socket)
			return &s->listeners[i];
	abort();
}

/* Returns the client's end. */
static inline int border_connect(enum conn_trust by, bool unix_socket)
{
	int fds[2];
	bool command = by == CONN_TRUST_OWNER;
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	conn_accept(
		border.server, border_listener(command, command || unix_socket), by, false, fds[1]);
	return fds[0];
}

/* Read pending bytes. Returns whether there were any. */
static inline bool border_receive(int fd, struct border_answers *a)
{
	if (a->length + 1 >= a->size) {
		a->size = a->size ? a->size * 2 : 64 << 10;
		a->bytes = realloc(a->bytes, a->size);
		FUZZ_CHECK(a->bytes && a->size <= BORDER_LENGTH_MAX);
	}
	ssize_t n = a->ended ? 0 : recv(fd, a->bytes + a->length, a->size - a->length - 1, 0);
	bool was_ended = a->ended;
	a->ended |= n == 0 || (n < 0 && errno != EAGAIN);
	a->length += n > 0 ? (size_t)n : 0;
	a->bytes[a->length] = '\0';
	return n > 0 || a->ended != was_ended;
}

/* Run one turn of the loop and of the handlers' work. Returns whether there is more to do. */
static inline bool border_turn(void)
{
	struct border_work *w, *next;
	bool more = false;
	uv_run(&border.loop, UV_RUN_NOWAIT);
	DL_FOREACH_SAFE (border.works, w, next) {
		if (!w->turn)
			continue;
		more = true;
		w->turn(w);
	}
	struct pollfd events = {.fd = uv_backend_fd(&border.loop), .events = POLLIN};
	return more || uv_backend_timeout(&border.loop) == 0 || poll(&events, 1, 0) > 0;
}

/* Let the server work until it is idle, and read its answers. */
static inline void border_settle(int fd, struct border_answers *a)
{
	unsigned turns = 0;
	bool more = true;
	while (more) {
		FUZZ_CHECK(turns++ < BORDER_TURNS_MAX);
		more = border_turn();
		more |= border_receive(fd, a);
	}
}

/* Send bytes while the server reads. */
static inline void border_send(int fd, struct border_answers *a, const uint8_t *bytes, size_t length)
{
	for (size_t sent = 0; sent < length && !a->ended;) {
		ssize_t n = send(fd, bytes + sent, length - sent, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			break;
		sent += n > 0 ? (size_t)n : 0;
		if (n < 0)
			border_settle(fd, a);
	}
}

/* Disconnect the client and check that nothing is left of it. */
static inline void border_close(int fd)
{
	const struct metrics *m = &border.metrics;
	struct server *s = border.server;
	close(fd);
	for (unsigned turns = 0; border_turn() || m->http1_connections > 0 || s->connections > 0;)
		FUZZ_CHECK(turns++ < BORDER_TURNS_MAX);
	FUZZ_CHECK(!s->exchanges && !s->sockets && !border.works && !border.access.requests);
	FUZZ_CHECK(m->body_bytes == 0 && m->streams == 0 && m->strangers == 0);
	FUZZ_CHECK(m->connections_silent == 0 && m->control_sockets == 0 && m->rpc_sockets == 0);
	/* No input may affect the next one. */
	border.auth.limiter = (struct limiter){0};
}
