/*
 * Errors of connections when a request is not served, because its head is invalid, too large or comes too slowly. A browser gets
 * a page if an Accept with text/html is among the bytes that have come, even if the head cannot be parsed.
 */
#include "ws/net/http1.h"

#include <stdio.h>
#include <string.h>

#define EXCESS_MAX HTTP1_TURN_MAX /* bytes of a head that are read in search of Accept */

void http1_refuse(
	struct conn *c, const char *code, const char *message, const struct http1_refusal *how)
{
	struct exchange *x = http1_exchange(c);
	if (!x) {
		conn_drop(c);
		return;
	}
	x->server->options.metrics->http_requests++;
	conn_consume(c, c->in_length);
	x->request->auth = how && how->known ? AUTH_OK : AUTH_MISSING;
	x->head_only = how && how->head_only;
	x->request->accepts_page = how && how->page;
	x->request->page_link = how ? how->link : NULL;
	reply_error(x->request, code, message, NULL);
}

/* Whether the head in c->in, which may be incomplete, is a browser's. */
static bool is_browser(const struct conn *c, bool *ret_whole)
{
	size_t skip = http1_empty_lines(c), size = c->in_length - skip;
	size_t length = http_fields_head_length(c->in + skip, size);
	*ret_whole = length > 0;
	return c->is_browser || http_text_accepts_page(c->in + skip, length > 0 ? length : size);
}

/* Refuse a connection of which no request is served. */
static void refuse_any(struct conn *c, const struct http1_refusal *how)
{
	if (c->busy)
		http1_refuse(c, "SERVER_BUSY",
			"The server has too many connections, in all or from your address", how);
	else
		http1_refuse(c, "TLS_REQUIRED", "This port requires TLS: use https", how);
}

void http1_refuse_head(struct conn *c, const char *code, const char *message)
{
	bool whole;
	const struct http1_refusal how = {.known = c->busy, .page = is_browser(c, &whole)};
	if (c->busy || c->clear)
		refuse_any(c, &how);
	else
		http1_refuse(c, code, message, &how);
}

bool http1_refuse_unserved(struct conn *c, const struct http_head *http)
{
	char link[ORIGIN_TEXT_MAX + sizeof "https:///"];
	const char *host = http_head_count(http, "host") == 1 ? http_head_field(http, "host") : NULL;
	struct http1_refusal how = {.known = c->busy,
		.head_only = strcmp(http->method, "HEAD") == 0,
		.page = http_head_accepts_page(http)};
	if (!c->busy && !c->clear)
		return false;
	/* Only to names of ours: a page of ours must not lead to another site. */
	if (c->clear && host && origin_host_is_allowed(&c->server->origins, host) &&
		strlen(host) < ORIGIN_TEXT_MAX) {
		snprintf(link, sizeof link, "https://%s/", host);
		how.link = link;
	}
	refuse_any(c, &how);
	return true;
}

/* Make space in c->in: remove all lines but the last, and of that one the part in which Accept is not looked for. */
static void discard_lines(struct conn *c)
{
	const char *newline = memrchr(c->in, '\n', c->in_length);
	size_t before = newline ? (size_t)(newline - c->in) : 0, length = c->in_length;
	/* The newline stays, so that a line that begins with "Accept" is known to be one. */
	size_t kept = length - before < HTTP_ACCEPT_LOOKED + 1 ? length - before
							       : HTTP_ACCEPT_LOOKED + 1;
	memmove(c->in, c->in + before, kept);
	c->in_length = kept;
	c->excess += length - kept;
}

bool http1_skip_excess(struct conn *c)
{
	bool whole;
	c->is_browser = is_browser(c, &whole);
	if (c->is_browser || whole || c->excess > EXCESS_MAX) {
		http1_refuse_head(c, "REQUEST_TOO_LARGE", "The request's head is too large");
		return true;
	}
	if (c->in_length >= HTTP_HEAD_MAX)
		discard_lines(c);
	return false;
}

/* Whether a request has begun: browsers and proxies open connections in advance, and send nothing until they need them. */
static bool has_begun(const struct conn *c)
{
	if (c->excess > 0) /* all that was kept may be a newline */
		return true;
	for (size_t i = 0; i < c->in_length; i++)
		if (c->in[i] != '\r' && c->in[i] != '\n')
			return true;
	return false;
}

void http1_refuse_late(struct conn *c)
{
	if (!has_begun(c)) {
		conn_drop(c);
		return;
	}
	c->server->options.metrics->header_timeouts++;
	http1_refuse_head(c, "REQUEST_TIMEOUT", "The request did not arrive in time");
}
