/* All links to nodes: libwebsockets' context, and the timers. */
#include "ws/net/node_link_internal.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <utlist.h>

#define TICK_MS 500u
#define SEND_BYTES (128u << 10)  /* as in server.c */
#define HEADER_BYTES (12u << 10) /* of the request and the answer; allocated during the handshake */

static const struct lws_protocols protocols[] = {
	{
		.name = NODE_LINK_PROTOCOL,
		.callback = node_link_event,
		.rx_buffer_size = NODE_LINK_RECEIVE_BYTES,
		.tx_packet_size = SEND_BYTES,
	},
	{0},
};

static void on_turn(uv_timer_t *timer)
{
	struct node_links *all = timer->data;
	struct node_link *l, *next;
	DL_FOREACH_SAFE (all->list, l, next)
		node_link_turn(l);
}

void node_links_want_turn(struct node_links *all)
{
	uv_timer_start(&all->turn, on_turn, 0, 0);
}

static void on_tick(uv_timer_t *timer)
{
	struct node_links *all = timer->data;
	struct node_link *l, *next;
	DL_FOREACH_SAFE (all->list, l, next)
		node_link_tick(l);
}

void node_links_add(struct node_link *l)
{
	DL_APPEND(l->all->list, l);
	if (!uv_is_active((uv_handle_t *)&l->all->tick))
		uv_timer_start(&l->all->tick, on_tick, TICK_MS, TICK_MS);
}

void node_links_remove(struct node_link *l)
{
	DL_DELETE(l->all->list, l);
	if (!l->all->list)
		uv_timer_stop(&l->all->tick);
}

int node_links_open(uv_loop_t *loop, const char *ca, struct node_links **ret_links)
{
	struct node_links *all = calloc(1, sizeof *all);
	void *loops[] = {loop};
	if (!all)
		return -ENOMEM;
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = protocols,
		.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_VALIDATE_UTF8 |
			LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT |
			(ca ? LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS : 0),
		.client_ssl_ca_filepath = ca,
		.ssl_client_options_set = (long)(SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1),
		.http_proxy_address = "", /* none, also if the environment names one */
		.foreign_loops = loops,
		.gid = -1,
		.uid = -1,
		.max_http_header_data = HEADER_BYTES,
		.pt_serv_buf_size = NODE_LINK_RECEIVE_BYTES,
		/* Of the kernel, which also limits by them how long sent bytes may be unacknowledged: to 25 s. */
		.ka_time = 10,
		.ka_interval = 5,
		.ka_probes = 3,
		/* on_tick() is stricter. */
		.timeout_secs = 2 * NODE_LINK_ANSWER_MS / 1000,
		.connect_timeout_secs = 2 * NODE_LINK_CONNECT_MS / 1000,
	};
	lws_set_log_level(0, NULL); /* until the server sets it */
	all->context = lws_create_context(&info);
	if (!all->context) {
		free(all);
		return -EIO;
	}
	all->loop = loop;
	uv_timer_init(loop, &all->tick);
	uv_timer_init(loop, &all->turn);
	all->tick.data = all->turn.data = all;
	*ret_links = all;
	return 0;
}

void node_links_close(struct node_links *all)
{
	struct node_link *l, *next;
	DL_FOREACH_SAFE (all->list, l, next)
		node_link_drop(l);
	uv_close((uv_handle_t *)&all->tick, NULL);
	uv_close((uv_handle_t *)&all->turn, NULL);
	lws_context_destroy(all->context);
}

void node_links_free(struct node_links *all)
{
	/* With a foreign loop it must be called before and after its handles close. */
	lws_context_destroy(all->context);
	free(all);
}
