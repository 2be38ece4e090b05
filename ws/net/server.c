/* Sets libwebsockets up, and dispatches its callbacks. */
#include "ws/log.h"
#include "ws/net/conn.h"
#include "ws/net/tls.h"
#include "ws/net/upgrade.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SWEEP_MS 1000u
#define HEADER_BYTES 12288  /* headers of one handshake */
#define HEADER_TABLES 65535 /* handshakes at once; allocated while they are in use */
#define RECEIVE_BYTES (32u << 10)
#define WRITE_BYTES (128u << 10) /* the default of 4 KB splits larger frames: six times slower */
#define SCRATCH_BYTES ((size_t)64 << 10)

/* The WebSocket that a connection was admitted as; NULL = destroyed. */
static struct upgrade *upgrade_of(struct lws *wsi)
{
	return lws_get_opaque_user_data(wsi);
}

static void on_created(struct server *s, struct lws *wsi)
{
	lws_set_opaque_user_data(wsi, s->adopting);
	s->adopting = NULL;
}

static void on_destroyed(struct server *s, struct lws *wsi)
{
	s->connections--;
	upgrade_free(upgrade_of(wsi));
	lws_set_opaque_user_data(wsi, NULL);
}

static int on_event(
	struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	struct server *s = lws_context_user(lws_get_context(wsi));
	struct socket_slot *c = user;
	switch (reason) {
	case LWS_CALLBACK_WSI_CREATE:
		s->connections++;
		return 0;
	case LWS_CALLBACK_WSI_DESTROY:
		on_destroyed(s, wsi);
		return 0;
	case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
		on_created(s, wsi);
		return 0;
	case LWS_CALLBACK_HTTP:
		return -1; /* only handshakes of handover.c come here */
	case LWS_CALLBACK_ESTABLISHED:
		return upgrade_of(wsi) ? socket_open(s, wsi, c, upgrade_of(wsi)) : -1;
	case LWS_CALLBACK_RECEIVE:
		return socket_receive(s, wsi, c, in, length);
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return socket_writable(c);
	case LWS_CALLBACK_RECEIVE_PONG:
		socket_pong(c);
		return 0;
	case LWS_CALLBACK_CLOSED:
	case LWS_CALLBACK_WS_SERVER_DROP_PROTOCOL:
		if (c)
			socket_free(s, c);
		return 0;
	default:
		return 0;
	}
}

static const struct lws_protocols protocols[] = {
	{
		.name = "ringside",
		.callback = on_event,
		.per_session_data_size = sizeof(struct socket_slot),
		.rx_buffer_size = RECEIVE_BYTES,
		.tx_packet_size = WRITE_BYTES,
	},
	{0},
};

/* Warnings are mostly errors of peers, so they are logged as debug. */
static void on_log(int level, const char *line)
{
	char text[256];
	/* Logged for bytes that were handed over with a connection; not an error. */
	if (strstr(line, "calling service"))
		return;
	snprintf(text, sizeof text, "%s", line);
	text[strcspn(text, "\r\n")] = '\0';
	log_write(level == LLL_ERR ? LOG_WARN : LOG_DEBUG, "libwebsockets", text, NULL);
}

static void on_sweep(uv_timer_t *timer)
{
	struct server *s = timer->data;
	access_sweep(s->options.dispatcher->access);
	socket_sweep(timer->data);
	stream_sweep(timer->data);
	log_flush();
	if (!s->held)
		conns_sweep(s);
}

static const lws_retry_bo_t idle_policy = {
	/* Off: socket_sweep() pings. libwebsockets would close a client that is merely slow. */
	.secs_since_valid_ping = 0xfffe,
	.secs_since_valid_hangup = 0xffff,
};

static int open_context(struct server *s)
{
	const struct server_options *o = &s->options;
	void *loops[] = {o->loop};
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN_SERVER,
		.protocols = protocols,
		.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
			LWS_SERVER_OPTION_VALIDATE_UTF8 | LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS,
		.foreign_loops = loops,
		.user = s,
		.gid = -1,
		.uid = -1,
		.server_string = "ringside",
		.vhost_name = "ringside",
		.max_http_header_data = HEADER_BYTES,
		.max_http_header_pool = HEADER_TABLES,
		.pt_serv_buf_size = RECEIVE_BYTES,
		.timeout_secs = o->header_timeout_s,
		.timeout_secs_ah_idle = o->header_timeout_s,
		.keepalive_timeout = 30,
		.retry_and_idle_policy = &idle_policy,
	};
	lws_set_log_level(LLL_ERR | LLL_WARN, on_log);
	s->context = lws_create_context(&info);
	if (!s->context) {
		log_write(LOG_ERROR, "server", "cannot set up libwebsockets", "hint",
			"is the package libwebsockets-evlib-uv installed?", NULL);
		return -EIO;
	}
	s->vhost = lws_create_vhost(s->context, &info);
	if (!s->vhost)
		log_write(LOG_ERROR, "server", "cannot set up libwebsockets", NULL);
	return s->vhost ? 0 : -EIO;
}

static int add_names(struct server *s)
{
	const struct server_options *o = &s->options;
	s->origins.tls = o->tls_cert != NULL;
	/* A browser that asks DNS for names below localhost is a risk only without credentials. */
	s->origins.exact = o->auth->open;
	for (size_t i = 0; i < o->hosts_count; i++)
		if (!origin_add_host(&s->origins, o->hosts[i])) {
			log_write(LOG_ERROR, "server", "invalid host", "allow-host", o->hosts[i],
				NULL);
			return -EINVAL;
		}
	for (size_t i = 0; i < o->origins_count; i++)
		if (!origin_add_origin(&s->origins, o->origins[i])) {
			log_write(LOG_ERROR, "server", "invalid origin", "allow-origin",
				o->origins[i], NULL);
			return -EINVAL;
		}
	return 0;
}

int server_check(const struct server_options *options)
{
	struct server *s = calloc(1, sizeof *s);
	int rc = s ? 0 : -ENOMEM;
	if (s) {
		s->options = *options;
		rc = add_names(s);
	}
	if (rc == 0)
		rc = tls_open(s);
	if (s)
		tls_close(s);
	free(s);
	return rc;
}

int server_open(const struct server_options *options, struct server **ret_server)
{
	struct server *s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	s->options = *options;
	s->reserve_fd = -1;
	s->peer_user = -1;
	s->scratch = malloc(LWS_PRE + SCRATCH_BYTES);
	int rc = s->scratch ? add_names(s) : -ENOMEM;
	if (rc == 0)
		rc = tls_open(s);
	if (rc == 0)
		rc = open_context(s);
	s->bodies.gauge = &options->metrics->body_bytes;
	s->peers.connections_max = options->max_connections;
	s->peers.gauge = &options->metrics->strangers;
	if (rc == 0)
		rc = conns_open(s);
	if (rc == 0)
		rc = listen_open(s);
	if (rc < 0) {
		/* The program exits: memory of libwebsockets is not freed. */
		tls_close(s);
		free(s->scratch);
		free(s);
		return rc;
	}
	uv_timer_init(options->loop, &s->sweep);
	uv_timer_init(options->loop, &s->closer);
	s->sweep.data = s->closer.data = s;
	uv_timer_start(&s->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	*ret_server = s;
	return 0;
}

bool server_acquire_quota(struct server *s, enum quota_kind kind, size_t amount,
	const struct principal *p, struct quota_place *place)
{
	struct access *a = s->options.dispatcher->access;
	return !a || quota_acquire(&a->quotas, kind, (unsigned)amount, p, place);
}

uint64_t server_now_ms(const struct server *s)
{
	return uv_now(s->options.loop);
}

unsigned server_keepalive_s(const struct server *s)
{
	unsigned pings = s->options.ping_interval_s;
	return pings < STREAM_QUIET_S ? pings : STREAM_QUIET_S;
}

const char *server_url(const struct server *s, size_t i)
{
	for (size_t n = 0; n < s->listeners_count; n++)
		if (!s->listeners[n].command && i-- == 0)
			return s->listeners[n].url;
	return NULL;
}

void server_stop(struct server *s)
{
	s->stopping = true;
	listen_close(s);
	socket_close_all(s);
}

bool server_is_idle(const struct server *s)
{
	return s->sockets == NULL;
}

void server_close(struct server *s)
{
	uv_close((uv_handle_t *)&s->sweep, NULL);
	uv_close((uv_handle_t *)&s->closer, NULL);
	uv_close((uv_handle_t *)&s->relisten, NULL);
	conns_close(s);
	lws_context_destroy(s->context);
	if (s->reserve_fd >= 0)
		close(s->reserve_fd);
	if (s->peer_user >= 0)
		close(s->peer_user);
}

void server_free(struct server *s)
{
	/* With a foreign loop it must be called before and after its handles close. */
	lws_context_destroy(s->context);
	conns_free(s);
	peers_finish(&s->peers);
	tls_close(s);
	free(s->scratch);
	free(s);
}
