/* Extracts the headers that are used, and checks Host, Origin and credentials. */
#include "shell/clock.h"
#include "ws/log.h"
#include "ws/net/internal.h"
#include "ws/net/relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MCP_HEADER_SIZE 512u /* of a value of MCP, with its NUL */
#define BRIDGE "/v1/"        /* routes with Session-Id instead of X-Session-Id */

/* Whether a Content-Encoding changes nothing. */
static bool is_identity(const char *encoding)
{
	return !*encoding || strcasecmp(encoding, "identity") == 0;
}

/* Copy a header that may occur once. Returns NULL, or an error code. */
static const char *copy_single(
	const struct http_head *http, const char *name, char *text, size_t size, bool *ret_has)
{
	const char *value = http_head_field(http, name);
	*ret_has = value && *value;
	if (http_head_count(http, name) > 1)
		return "VALIDATION_FAILED";
	if (value && strlen(value) >= size)
		return "REQUEST_TOO_LARGE";
	snprintf(text, size, "%s", value ? value : "");
	return NULL;
}

/*
 * Check a condition or a range, and make an empty one a list that matches nothing. One that is too long or repeated is an
 * error: to ignore it could overwrite a file. Returns NULL, or an error code.
 */
static const char *check_condition(
	const struct http_head *http, const char *name, const char **value)
{
	if (http_head_count(http, name) > 1)
		return "VALIDATION_FAILED";
	if (strlen(*value) >= REQUEST_HEADER_SIZE)
		return "REQUEST_TOO_LARGE";
	if (!**value)
		*value = ",";
	return NULL;
}

/* Copy the headers that the route's handler reads. A header of MCP that is too long is present and empty. */
static const char *copy_headers(const struct http_head *http, struct head *h)
{
	static const struct {
		const char *name;
		enum route_headers set;
	} known[REQUEST_HEADERS] = {
		[HEADER_RANGE] = {"range", ROUTE_HEADERS_CONDITIONS},
		[HEADER_IF_RANGE] = {"if-range", ROUTE_HEADERS_CONDITIONS},
		[HEADER_IF_MATCH] = {"if-match", ROUTE_HEADERS_CONDITIONS},
		[HEADER_IF_NONE_MATCH] = {"if-none-match", ROUTE_HEADERS_CONDITIONS},
		[HEADER_IF_MODIFIED_SINCE] = {"if-modified-since", ROUTE_HEADERS_CONDITIONS},
		[HEADER_IF_UNMODIFIED_SINCE] = {"if-unmodified-since", ROUTE_HEADERS_CONDITIONS},
		[HEADER_CONTENT_RANGE] = {"content-range", ROUTE_HEADERS_CONDITIONS},
		[HEADER_ACCEPT] = {"accept", ROUTE_HEADERS_MCP},
		[HEADER_MCP_PROTOCOL_VERSION] = {"mcp-protocol-version", ROUTE_HEADERS_MCP},
		[HEADER_MCP_METHOD] = {"mcp-method", ROUTE_HEADERS_MCP},
		[HEADER_MCP_NAME] = {"mcp-name", ROUTE_HEADERS_MCP},
		[HEADER_MCP_SESSION_ID] = {"mcp-session-id", ROUTE_HEADERS_MCP},
	};
	for (size_t i = 0; i < REQUEST_HEADERS; i++) {
		const char *value = http_head_field(http, known[i].name), *problem = NULL;
		if (!value || known[i].set != h->row->headers)
			continue;
		if (known[i].set == ROUTE_HEADERS_CONDITIONS)
			problem = check_condition(http, known[i].name, &value);
		else if (strlen(value) >= MCP_HEADER_SIZE)
			value = "";
		if (problem)
			return problem;
		h->headers[i] = strdup(value);
		if (!h->headers[i])
			return "OUT_OF_MEMORY";
	}
	return NULL;
}

/* Join the Cookie headers. */
static const char *join_cookies(const struct http_head *http, struct head *h)
{
	size_t used = 0;
	for (size_t i = 0; i < http->fields_count; i++) {
		if (strcmp(http->fields[i].name, "cookie") != 0)
			continue;
		int n = snprintf(h->cookie + used, sizeof h->cookie - used, "%s%s",
			used ? "; " : "", http->fields[i].value);
		if (n < 0 || (size_t)n >= sizeof h->cookie - used)
			return "REQUEST_TOO_LARGE";
		used += (size_t)n;
	}
	h->has_cookie = used > 0;
	return NULL;
}

static void copy_session(const struct http_head *http, struct head *h)
{
	const char *name = strncmp(http->target, BRIDGE, sizeof BRIDGE - 1) == 0 ? "session-id"
										 : "x-session-id";
	const char *value = http_head_field(http, name);
	h->has_session = value != NULL;
	if (!value)
		return;
	if (strlen(value) < sizeof h->session && http_head_count(http, name) == 1)
		snprintf(h->session, sizeof h->session, "%s", value);
	else
		memset(h->session, 'x', sizeof h->session - 1);
}

/* Copy a header, cut if it is too long. */
static void copy_field(const struct http_head *http, const char *name, char *text, size_t size)
{
	const char *value = http_head_field(http, name);
	snprintf(text, size, "%s", value ? value : "");
}

/* Copy headers that cannot be refused. */
static void copy_optional(const struct http_head *http, struct head *h)
{
	copy_field(http, "accept-encoding", h->accept_encoding, sizeof h->accept_encoding);
	copy_field(http, "if-none-match", h->if_none_match, sizeof h->if_none_match);
	copy_field(http, "content-type", h->content_type, sizeof h->content_type);
	copy_field(http, "sec-fetch-site", h->fetch_site, sizeof h->fetch_site);
	copy_field(http, "sec-fetch-mode", h->fetch_mode, sizeof h->fetch_mode);
	copy_field(http, "user-agent", h->agent, sizeof h->agent);
	copy_field(http, "ringside-node", h->node, sizeof h->node);
	copy_field(http, "forwarded", h->forwarded, sizeof h->forwarded);
	copy_field(http, "x-forwarded-proto", h->forwarded_proto, sizeof h->forwarded_proto);
	const char *accept = http_head_field(http, "accept");
	h->accepts_events = accept && strcasestr(accept, "text/event-stream");
	h->accepts_page = http_head_accepts_page(http);
	h->accepts_tar = accept && strcasestr(accept, "application/x-tar");
	h->has_match = h->if_none_match[0];
	h->head_only = strcmp(http->method, "HEAD") == 0;
	h->options = strcmp(http->method, "OPTIONS") == 0;
	h->method = h->head_only ? METHOD_GET : method_parse(http->method);
	h->http_1_0 = http->minor == 0;
	bool stays = http_head_lists(http, "connection", "keep-alive");
	h->close_after = http_head_lists(http, "connection", "close") || (h->http_1_0 && !stays);
}

/* Read the headers about the body. */
static void read_body_fields(const struct http_head *http, struct head *h)
{
	const char *expect = http_head_field(http, "expect");
	h->coding = http_head_coding(http);
	for (size_t i = 0; i < http->fields_count; i++)
		if (strcmp(http->fields[i].name, "content-encoding") == 0)
			h->is_encoded |= !is_identity(http->fields[i].value);
	/* RFC 9110 10.1.1: ignored in HTTP/1.0. */
	if (!expect || http->minor == 0)
		return;
	h->expects = strcasecmp(expect, "100-continue") == 0 && http_head_count(http, "expect") == 1;
	h->expects_unknown = !h->expects;
}

/* Decode path and parameters, by a temporary request. */
static const char *decode_target(const struct http_head *http, struct head *h)
{
	struct request *r = request_create();
	int rc = r ? request_parse_target(r, http->target) : -ENOMEM;
	if (r) {
		h->path = r->path;
		h->params_count = r->params_count;
		memcpy(h->params, r->params, sizeof h->params);
		r->path = NULL;
		r->params_count = 0;
		request_unref(r);
	}
	return rc == 0          ? NULL
		: rc == -E2BIG  ? "REQUEST_TOO_LARGE"
		: rc == -EINVAL ? "VALIDATION_FAILED"
				: "OUT_OF_MEMORY";
}

/* The row of the request's route; zeros if there is none. */
static const struct route_row *find_row(const struct routes *all, const struct head *h)
{
	static const struct route_row none = {0};
	struct route_match m = {.result = ROUTE_NONE};
	if (all && h->path)
		route_parse(all, h->method, h->path, &m);
	return m.result == ROUTE_FOUND ? m.row : &none;
}

const char *head_extract(const struct http_head *http, const struct routes *all, struct head *h)
{
	struct {
		const char *name;
		char *text;
		size_t size;
		bool *has;
	} wanted[] = {
		{"host", h->host, sizeof h->host, &h->has_host},
		{"origin", h->origin, sizeof h->origin, &h->has_origin},
		{"authorization", h->authorization, sizeof h->authorization, &h->has_authorization},
		{"content-length", h->length, sizeof h->length, &h->has_length},
	};
	const char *problem = NULL, *found;
	copy_optional(http, h);
	read_body_fields(http, h);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		found = copy_single(
			http, wanted[i].name, wanted[i].text, wanted[i].size, wanted[i].has);
		problem = problem ? problem : found;
	}
	/* An empty one is present, and an error later. */
	h->has_length = http_head_field(http, "content-length") != NULL;
	found = join_cookies(http, h);
	problem = problem ? problem : found;
	copy_session(http, h);
	/* RFC 9112 3.2.2: the target's authority replaces Host. */
	if (http->authority) {
		snprintf(h->host, sizeof h->host, "%s", http->authority);
		h->has_host = strlen(http->authority) < sizeof h->host;
	}
	found = decode_target(http, h);
	problem = problem ? problem : found;
	h->row = find_row(all, h);
	return problem ? problem : copy_headers(http, h);
}

void head_free(struct head *h)
{
	for (size_t i = 0; i < h->params_count; i++)
		free(h->params[i]);
	h->params_count = 0;
	for (size_t i = 0; i < REQUEST_HEADERS; i++) {
		free(h->headers[i]);
		h->headers[i] = NULL;
	}
	free(h->path);
	h->path = NULL;
}

/* W3C Fetch Metadata: a navigation. No other page can read its answer. */
static bool is_navigation(const struct head *h)
{
	return h->method == METHOD_GET && strcmp(h->fetch_mode, "navigate") == 0;
}

/* Whether the browser reports that a page of another site asks, which --allow-origin does not have. */
static bool is_foreign(const struct server *s, const struct head *h)
{
	bool configured = h->has_origin && origin_is_configured(&s->origins, h->origin);
	return strcmp(h->fetch_site, "cross-site") == 0 && !configured && !is_navigation(h);
}

static bool is_of_type(const struct head *h, const char *type)
{
	size_t length = strlen(type);
	char after = strncasecmp(h->content_type, type, length) == 0 ? h->content_type[length] : '?';
	return after == '\0' || after == ';' || after == ' ' || after == '\t';
}

bool head_is_tar(const struct head *h)
{
	return is_of_type(h, "application/x-tar");
}

/*
 * Protection against CSRF. A browser also sends the cookie for pages of another port or a sibling domain, which are the same
 * site to SameSite. So the Origin must be our own page's, and a body must be JSON or sent by PUT, which no form can do.
 */
static struct refusal check_cookie(
	const struct server *s, const struct head *h, const char *host, bool state_changing)
{
	/* Some proxies remove Origin; then Sec-Fetch-Site decides. */
	bool own = h->has_origin ? origin_is_own(&s->origins, h->origin, host)
				 : strcmp(h->fetch_site, "same-origin") == 0;
	bool sibling = strcmp(h->fetch_site, "same-site") == 0 && !is_navigation(h);
	bool has_body = h->coding != HTTP_CODING_NONE ||
		(h->has_length && strcmp(h->length, "0") != 0);
	if (state_changing && !h->has_origin && !own)
		return (struct refusal){403, "ORIGIN_NOT_ALLOWED",
			"A request with a cookie needs an Origin, or Sec-Fetch-Site: same-origin"};
	if ((h->has_origin && !own) || (sibling && !own))
		return (struct refusal){403, "ORIGIN_NOT_ALLOWED",
			"Cookies are accepted from Ringside's own page only: send a token or a link"};
	if (has_body && !is_of_type(h, "application/json") && h->method != METHOD_PUT)
		return (struct refusal){415, "UNSUPPORTED_MEDIA_TYPE",
			"With a cookie the request's body must be application/json"};
	return (struct refusal){0};
}

/* An origin for the log, without the secret of a preview's host. */
static const char *loggable_origin(const struct server *s, const char *origin)
{
	const char *host = strstr(origin, "://");
	return relay_is_host(s, host ? host + 3 : origin) ? "a preview's" : origin;
}

/* Check Host and Origin. */
static struct refusal check_page(
	struct server *s, const struct arrival *a, const struct head *h, const char *host)
{
	/* DNS rebinding cannot reach a unix socket. */
	if (!a->unix_socket && !h->row->probe && !origin_host_is_allowed(&s->origins, host)) {
		s->options.metrics->host_refused++;
		return (struct refusal){
			403, "HOST_NOT_ALLOWED", "This host is not allowed (see --allow-host)"};
	}
	/* No page reaches the command line's socket, unless it is forwarded. */
	bool wrong = h->has_origin &&
		(a->by == CONN_TRUST_OWNER || !origin_is_allowed(&s->origins, h->origin, host));
	if (!wrong && !is_foreign(s, h))
		return (struct refusal){0};
	s->options.metrics->origin_refused++;
	log_write(LOG_WARN, "http", "origin refused", "peer", h->peer, "origin",
		h->has_origin ? loggable_origin(s, h->origin) : h->fetch_site, NULL);
	return (struct refusal){
		403, "ORIGIN_NOT_ALLOWED", "This origin is not allowed (see --allow-origin)"};
}

/* With --no-auth every client is the owner, so other users of this machine are refused. */
static struct refusal refuse_foreign_user(struct server *s, const struct head *h)
{
	s->options.metrics->peers_refused++;
	log_write(LOG_WARN, "http", "connection from another user refused", "peer", h->peer, NULL);
	return (struct refusal){403, "PEER_NOT_ALLOWED",
		"With --no-auth only processes of the server's own user and of root are served"};
}

/* Whether the trusted proxy, which added the last entry, was reached by https. */
static bool is_forwarded_https(const struct head *h)
{
	const char *last = strrchr(h->forwarded_proto, ',');
	last = last ? last + 1 : h->forwarded_proto;
	last += strspn(last, " \t");
	if (*last)
		return strcasecmp(last, "https") == 0;
	/* RFC 7239: for=…;proto=https, for=… */
	last = strrchr(h->forwarded, ',');
	for (const char *p = last ? last + 1 : h->forwarded; *p;) {
		p += strspn(p, "; \t");
		size_t length = strcspn(p, ";");
		if ((length == 11 && strncasecmp(p, "proto=https", 11) == 0) ||
			(length == 13 && strncasecmp(p, "proto=\"https\"", 13) == 0))
			return true;
		p += length;
	}
	return false;
}

bool head_is_secure(const struct server *s, const struct arrival *a, const struct head *h)
{
	if (h->by_node)
		return h->caller.secure;
	if (!a->unix_socket && s->options.tls_cert)
		return true;
	bool trusted = a->unix_socket; /* only our user can connect */
	for (size_t i = 0; !trusted && i < s->options.proxies_count; i++)
		trusted = strcmp(s->options.proxies[i], h->peer) == 0;
	return trusted && is_forwarded_https(h);
}

/* See whether another node forwards the request. Such a client's host and origin were checked there. */
static bool read_caller(struct server *s, struct head *h)
{
	h->by_node = h->has_authorization &&
		caller_verify(s->options.auth, h->authorization, clock_wall_ms(), &h->caller);
	if (h->by_node)
		snprintf(h->peer, sizeof h->peer, "%s", h->caller.peer);
	return h->by_node;
}

struct refusal head_check(struct server *s, const struct arrival *a, struct head *h,
	bool state_changing, struct principal *p, enum auth_result *ret_auth)
{
	const char *host = h->has_host ? h->host : NULL;
	if (read_caller(s, h)) {
		*ret_auth = caller_authenticate(s->options.auth, &h->caller, h->terminal, p);
		return (struct refusal){0};
	}
	if (a->by == CONN_TRUST_FOREIGN)
		return refuse_foreign_user(s, h);
	struct refusal refusal = check_page(s, a, h, host);
	if (refusal.status)
		return refusal;
	struct credentials credentials = {
		.authorization = h->has_authorization ? h->authorization : NULL,
		.cookie = h->has_cookie ? h->cookie : NULL,
		.link = params_find(h->params, h->params_count, "link"),
		.peer = h->peer,
		.owner = a->by == CONN_TRUST_OWNER,
		.secure = head_is_secure(s, a, h),
		.terminal = h->terminal,
	};
	*ret_auth = auth_check(s->options.auth, &credentials, p);
	if (*ret_auth == AUTH_OK && p->by_cookie)
		refusal = check_cookie(s, h, host, state_changing);
	s->options.metrics->origin_refused += refusal.status == 403;
	return refusal;
}
