/* From libwebsockets' header table to what decides whether a request is served. */
#include "ws/log.h"
#include "ws/net/internal.h"

#include <stdlib.h>
#include <string.h>

/* Copy a header. Returns -1 when it is too long for size, 0 when it is absent, 1 when it is there. */
static int copy(struct lws *wsi, enum lws_token_indexes token, char *text, size_t size)
{
	int length = lws_hdr_total_length(wsi, token);
	text[0] = '\0';
	if (length <= 0)
		return 0;
	return lws_hdr_copy(wsi, text, (int)size, token) >= 0 ? 1 : -1;
}

/*
 * X-Session-Id is none of the headers that libwebsockets knows: those it keeps for HTTP/1.1, and drops for
 * HTTP/2, where ?session= has to do.
 */
static void read_session(struct lws *wsi, struct head *h)
{
	static const char name[] = "x-session-id:";
	int length = lws_hdr_custom_length(wsi, name, sizeof name - 1);
	h->has_session = length >= 0;
	if (length <= 0)
		return;
	if (length >= (int)sizeof h->session ||
		lws_hdr_custom_copy(wsi, h->session, sizeof h->session, name, sizeof name - 1) < 0)
		memset(h->session, 'x', sizeof h->session - 1);
}

/* One of MCP's own headers; name with its colon. One that is too long is there, and is nothing. */
static bool read_custom(struct lws *wsi, const char *name, char text[MCP_HEADER_MAX])
{
	int length = lws_hdr_custom_length(wsi, name, (int)strlen(name));
	text[0] = '\0';
	if (length > 0 && length < (int)MCP_HEADER_MAX &&
		lws_hdr_custom_copy(wsi, text, MCP_HEADER_MAX, name, (int)strlen(name)) < 0)
		text[0] = '\0';
	return length >= 0;
}

/* HTTP/2 has none of them here, as with X-Session-Id. */
struct mcp_headers *head_read_mcp(struct lws *wsi)
{
	struct mcp_headers *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	m->known = lws_get_network_wsi(wsi) == wsi;
	copy(wsi, WSI_TOKEN_HTTP_ACCEPT, m->accept, sizeof m->accept);
	m->has_version = read_custom(wsi, "mcp-protocol-version:", m->version);
	m->has_method = read_custom(wsi, "mcp-method:", m->method);
	m->has_name = read_custom(wsi, "mcp-name:", m->name);
	m->has_session = read_custom(wsi, "mcp-session-id:", m->session);
	return m;
}

static const char *read_params(struct lws *wsi, struct head *h)
{
	char text[2048];
	int length;
	for (int i = 0; (length = lws_hdr_copy_fragment(
				 wsi, text, sizeof text, WSI_TOKEN_HTTP_URI_ARGS, i)) > 0;
		i++) {
		if (h->params_count == REQUEST_PARAMS_MAX)
			return "REQUEST_TOO_LARGE";
		h->params[h->params_count] = strdup(text);
		if (!h->params[h->params_count])
			return "INTERNAL_ERROR";
		h->params_count++;
	}
	return length < -1 ? "REQUEST_TOO_LARGE" : NULL;
}

const char *head_read(struct lws *wsi, struct head *h)
{
	*h = (struct head){0};
	int host = copy(wsi, WSI_TOKEN_HOST, h->host, sizeof h->host);
	if (host == 0)
		host = copy(wsi, WSI_TOKEN_HTTP_COLON_AUTHORITY, h->host, sizeof h->host);
	int origin = copy(wsi, WSI_TOKEN_ORIGIN, h->origin, sizeof h->origin);
	int authorization = copy(
		wsi, WSI_TOKEN_HTTP_AUTHORIZATION, h->authorization, sizeof h->authorization);
	int cookie = copy(wsi, WSI_TOKEN_HTTP_COOKIE, h->cookie, sizeof h->cookie);
	h->has_host = host > 0;
	h->has_origin = origin > 0;
	h->has_authorization = authorization > 0;
	h->has_cookie = cookie > 0;
	read_session(wsi, h);
	if (lws_get_peer_simple(wsi, h->peer, sizeof h->peer) == NULL || !h->peer[0])
		snprintf(h->peer, sizeof h->peer, "unix");
	if (host < 0 || origin < 0 || authorization < 0 || cookie < 0)
		return "REQUEST_TOO_LARGE";
	return read_params(wsi, h);
}

void head_free(struct head *h)
{
	for (size_t i = 0; i < h->params_count; i++)
		free(h->params[i]);
	h->params_count = 0;
}

struct refusal head_check(struct server *s, struct lws *wsi, const struct head *h,
	bool state_changing, struct principal *p, enum auth_result *ret_auth)
{
	const char *host = h->has_host ? h->host : NULL;
	/* Nobody's name resolves to a unix socket: what Host says there does not matter. */
	bool local = server_is_local(wsi);
	if (!local && !origin_host_is_allowed(&s->origins, host)) {
		s->options.metrics->host_refused++;
		return (struct refusal){
			403, "HOST_NOT_ALLOWED", "This host is not allowed (see --allow-host)"};
	}
	/* No page reaches the command line's socket, unless somebody lays a pipe there. */
	bool owner = server_is_owner(wsi);
	if (h->has_origin && (owner || !origin_is_allowed(&s->origins, h->origin, host))) {
		s->options.metrics->origin_refused++;
		log_write(LOG_WARN, "http", "origin refused", "peer", h->peer, "origin", h->origin,
			NULL);
		return (struct refusal){403, "ORIGIN_NOT_ALLOWED",
			"This origin is not allowed (see --allow-origin)"};
	}
	struct credentials credentials = {
		.authorization = h->has_authorization ? h->authorization : NULL,
		.cookie = h->has_cookie ? h->cookie : NULL,
		.link = params_find(h->params, h->params_count, "link"),
		.peer = h->peer,
		.owner = owner,
	};
	*ret_auth = auth_check(s->options.auth, &credentials, p);
	if (*ret_auth == AUTH_OK && p->by_cookie && state_changing && !h->has_origin) {
		s->options.metrics->origin_refused++;
		return (struct refusal){
			403, "ORIGIN_NOT_ALLOWED", "A request with a cookie needs an Origin"};
	}
	return (struct refusal){0};
}
