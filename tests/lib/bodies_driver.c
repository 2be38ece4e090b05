/*
 * The server's real connections, TLS, limits and roles, with routes that only receive and send bodies, at a given pace. Takes
 * the options of `serve`.
 *
 *   PUT /test/take?later=MS&pause=MS&answer=BYTES   answers with the number of bytes and their hash. Begins after MS, pauses
 *                                                   after each piece, or answers after BYTES bytes
 *   PUT /test/bounded                               receives up to 1,000,000 bytes
 *   GET /test/give?length=N&unknown=1&pause=MS&fail=BYTES   sends N bytes
 *   GET /test/seen                                  counts of all of these
 */
#include "ws/access.h"
#include "ws/dispatcher.h"
#include "ws/log.h"
#include "ws/net/server.h"
#include "ws/rpc/socket.h"
#include "ws/serve/addresses.h"
#include "ws/serve/options.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GIVEN_AT_ONCE ((size_t)64 << 10)

static struct {
	uv_loop_t loop;
	struct serve_options options;
	struct sessions sessions; /* empty */
	struct metrics metrics;
	struct auth auth;
	struct access access;
	struct dispatcher dispatcher;
	struct terminals terminals;
	struct control_sockets controls;
	struct rpc_sockets rpcs;
	struct server *server;
	uv_signal_t sigterm;
	uint64_t taken, pieces, completed, broken, given, closed, open;
	int why;
} p;

static uint64_t number(const struct request *r, const char *name, uint64_t otherwise)
{
	const char *text = request_param(r, name);
	uint64_t n;
	return text && params_number(text, INT64_MAX, &n) ? n : otherwise;
}

static void free_with_timer(uv_handle_t *timer)
{
	free(timer->data);
}

/* Uploads */

struct upload_state {
	uv_timer_t timer;
	struct request *request; /* our reference */
	EVP_MD_CTX *hash;
	uint64_t bytes, largest, pause_ms, answer_at;
};

static void end_upload(struct upload_state *t)
{
	EVP_MD_CTX_free(t->hash);
	request_unref(t->request);
	p.open--;
	uv_close((uv_handle_t *)&t->timer, free_with_timer);
}

static void on_resume(uv_timer_t *timer)
{
	struct upload_state *t = timer->data;
	upload_resume(t->request);
}

static void on_piece(void *user, const char *bytes, size_t length)
{
	struct upload_state *t = user;
	EVP_DigestUpdate(t->hash, bytes, length);
	t->bytes += length;
	t->largest = length > t->largest ? length : t->largest;
	p.taken += length;
	p.pieces++;
	if (t->bytes >= t->answer_at) {
		reply_error(t->request, "NO_SPACE", "Received the bytes of ?answer=", NULL);
		end_upload(t);
	} else if (t->pause_ms > 0) {
		upload_pause(t->request);
		uv_timer_start(&t->timer, on_resume, t->pause_ms, 0);
	}
}

static void on_complete(void *user)
{
	struct upload_state *t = user;
	unsigned char sum[32];
	char text[65];
	EVP_DigestFinal_ex(t->hash, sum, NULL);
	for (size_t i = 0; i < sizeof sum; i++)
		snprintf(text + i * 2, 3, "%02x", sum[i]);
	p.completed++;
	reply_success(t->request,
		json_pack("{s:I, s:s, s:I}", "bytes", (json_int_t)t->bytes, "sha256", text,
			"largest", (json_int_t)t->largest));
	end_upload(t);
}

static void on_broken(void *user, enum upload_end why)
{
	p.broken++;
	p.why = (int)why;
	end_upload(user);
}

static void begin_upload(uv_timer_t *timer)
{
	static const struct upload_sink sink = {
		.piece = on_piece, .complete = on_complete, .broken = on_broken};
	struct upload_sink own = sink;
	struct upload_state *t = timer->data;
	own.user = t;
	upload_begin(t->request, &own);
}

static void receive(struct request *r)
{
	struct upload_state *t = calloc(1, sizeof *t);
	t->request = request_ref(r);
	t->hash = EVP_MD_CTX_new();
	EVP_DigestInit_ex(t->hash, EVP_sha256(), NULL);
	t->pause_ms = number(r, "pause", 0);
	t->answer_at = number(r, "answer", UINT64_MAX);
	uv_timer_init(&p.loop, &t->timer);
	t->timer.data = t;
	p.open++;
	if (request_param(r, "later"))
		uv_timer_start(&t->timer, begin_upload, number(r, "later", 0), 0);
	else
		begin_upload(&t->timer);
}

/* Downloads */

struct download_source_state {
	uv_timer_t timer;
	struct request *request; /* our reference */
	char *piece;
	uint64_t at, length, pause_ms, fail_at;
	bool rested;
};

static void on_more(uv_timer_t *timer)
{
	struct download_source_state *g = timer->data;
	g->rested = true;
	download_more(g->request);
}

static enum download_state on_next(void *user, const char **ret_bytes, size_t *ret_length)
{
	struct download_source_state *g = user;
	if (g->at >= g->fail_at)
		return DOWNLOAD_FAILED;
	if (g->pause_ms > 0 && !g->rested) {
		uv_timer_start(&g->timer, on_more, g->pause_ms, 0);
		return DOWNLOAD_WAIT;
	}
	g->rested = false;
	size_t size = g->length - g->at < GIVEN_AT_ONCE ? (size_t)(g->length - g->at)
							: GIVEN_AT_ONCE;
	if (size == 0)
		return DOWNLOAD_END;
	/* Each byte follows from its offset, and differs between chunks of 64 KiB. */
	for (size_t i = 0; i < size; i++)
		g->piece[i] = (char)((i * 7 + (g->at >> 16)) & 0xff);
	g->at += size;
	p.given += size;
	*ret_bytes = g->piece;
	*ret_length = size;
	return DOWNLOAD_PIECE;
}

static void on_closed(void *user)
{
	struct download_source_state *g = user;
	p.closed++;
	p.open--;
	free(g->piece);
	request_unref(g->request);
	uv_close((uv_handle_t *)&g->timer, free_with_timer);
}

static void give(struct request *r)
{
	struct download_source_state *g = calloc(1, sizeof *g);
	g->request = request_ref(r);
	g->piece = malloc(GIVEN_AT_ONCE);
	g->length = number(r, "length", 0);
	g->pause_ms = number(r, "pause", 0);
	g->fail_at = number(r, "fail", UINT64_MAX);
	uv_timer_init(&p.loop, &g->timer);
	g->timer.data = g;
	p.open++;
	download_reply(r, 200, "application/octet-stream",
		request_param(r, "unknown") ? DOWNLOAD_UNKNOWN : g->length,
		&(struct download_source){.next = on_next, .closed = on_closed, .user = g});
}

static void show_seen(struct request *r)
{
	reply_success(r,
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i}", "taken", (json_int_t)p.taken,
			"pieces", (json_int_t)p.pieces, "completed", (json_int_t)p.completed,
			"broken", (json_int_t)p.broken, "given", (json_int_t)p.given, "closed",
			(json_int_t)p.closed, "open", (json_int_t)p.open, "why", p.why));
}

/* What a test asks a server at its end. */
static void show_nothing(struct request *r)
{
	reply_success(r, json_pack("{s:[], s:[]}", "data", "processes"));
}

static const struct route_row rows[] = {
	{METHOD_PUT, "/test/take", ROUTE_OWNER, .plain = receive, .upload = true},
	{METHOD_PUT, "/test/bounded", ROUTE_OWNER, .plain = receive, .upload = true,
		.upload_max = 1000000},
	{METHOD_GET, "/test/give", ROUTE_OWNER, .plain = give},
	{METHOD_GET, "/test/seen", ROUTE_OWNER, .plain = show_seen},
	{METHOD_GET, "/api/session/list", ROUTE_OWNER, .plain = show_nothing},
	{METHOD_GET, "/api/process/list", ROUTE_OWNER, .plain = show_nothing},
	{.path = NULL},
};

static void on_sigterm(uv_signal_t *handle, int signo)
{
	(void)signo;
	uv_stop(handle->loop);
}

static int open_border(void)
{
	const struct serve_options *o = &p.options;
	struct server_options options = {
		.loop = &p.loop,
		.dispatcher = &p.dispatcher,
		.auth = &p.auth,
		.terminals = &p.terminals,
		.controls = &p.controls,
		.rpcs = &p.rpcs,
		.metrics = &p.metrics,
		.listen = o->listen.items,
		.listen_count = o->listen.count,
		.runtime_dir = o->runtime_dir,
		.tls_cert = o->tls_cert,
		.tls_key = o->tls_key,
		.header_timeout_s = o->header_timeout_s,
		.ping_interval_s = o->ping_interval_s,
		.max_connections = 256,
	};
	return server_open(&options, &p.server);
}

int main(int argc, char **argv)
{
	if (serve_options_parse(argc, argv, &p.options) != SERVE_START || !p.options.runtime_dir)
		return 2;
	mkdir(p.options.runtime_dir, 0700);
	signal(SIGPIPE, SIG_IGN);
	log_open();
	uv_loop_init(&p.loop);
	p.sessions.loop = &p.loop;
	p.sessions.config.runtime_dir = p.options.runtime_dir;
	p.dispatcher = (struct dispatcher){
		.sessions = &p.sessions, .metrics = &p.metrics, .access = &p.access};
	routes_add(&p.dispatcher.routes, rows, &p);
	struct auth_options auth = {.runtime_dir = p.options.runtime_dir, .loop = &p.loop};
	if (auth_open(&p.auth, &auth) < 0 ||
		terminals_open(&p.terminals, &p.sessions, &p.metrics) < 0 ||
		control_sockets_open(&p.controls, &p.dispatcher, &p.metrics) < 0 ||
		rpc_sockets_open(&p.rpcs, &p.dispatcher, &p.metrics) < 0)
		return 1;
	access_open(&p.access, &p.auth, 256);
	if (open_border() < 0)
		return 1;
	uv_signal_init(&p.loop, &p.sigterm);
	uv_signal_start(&p.sigterm, on_sigterm, SIGTERM);
	addresses_print(p.server, &p.auth, &p.options, p.options.runtime_dir);
	uv_run(&p.loop, UV_RUN_DEFAULT);
	server_stop(p.server);
	server_close(p.server);
	uv_close((uv_handle_t *)&p.sigterm, NULL);
	uv_run(&p.loop, UV_RUN_DEFAULT);
	server_free(p.server);
	uv_run(&p.loop, UV_RUN_DEFAULT);
	terminals_close(&p.terminals);
	control_sockets_close(&p.controls);
	rpc_sockets_close(&p.rpcs);
	uv_run(&p.loop, UV_RUN_DEFAULT);
	access_close(&p.access);
	auth_close(&p.auth);
	int rc = uv_loop_close(&p.loop);
	log_flush();
	return rc == 0 && p.open == 0 ? 0 : 3;
}
