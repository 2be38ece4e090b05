/* Heads of a relay: the request for the program, and the answer for the peer. */
#include "ws/net/relay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Append a value of Connection: the headers that it lists are not forwarded. Returns false if it does not fit. */
static bool add_connection(struct relay *r, const char *value)
{
	size_t used = strlen(r->connection);
	int n = snprintf(
		r->connection + used, sizeof r->connection - used, "%s%s", used ? "," : "", value);
	return n >= 0 && (size_t)n < sizeof r->connection - used;
}

/* Add Via (RFC 9110 7.6.3), X-Forwarded-* and the like. */
static void add_forwarded(struct pass_text *t, const struct relay *r, const struct http_head *http)
{
	char text[80];
	const struct previews *all = r->server->options.previews;
	snprintf(text, sizeof text, "1.1 ringside-%s", all->instance);
	pass_field(t, "via", text);
	pass_field(t, "x-forwarded-for", r->conn->peer);
	pass_field(t, "x-forwarded-host", r->pass.host);
	pass_field(t, "x-forwarded-proto", r->pass.scheme);
	if (r->pass.by_path) {
		snprintf(text, sizeof text, "/proxy/%u", r->pass.port);
		pass_field(t, "x-forwarded-prefix", text);
	}
	pass_add(t, "x-original-url: ");
	pass_add(t, r->pass.scheme);
	pass_add(t, "://");
	pass_add(t, r->pass.host);
	pass_add(t, strcmp(http->target, "*") == 0 ? "/" : http->target);
	pass_add(t, "\r\n");
	if (r->user.preview)
		pass_field(t, "x-sandbox-name", r->user.preview->name.id);
}

/* Whether an Authorization is valid for Ringside: then it is a secret, and not forwarded. */
static bool is_our_credential(const struct relay *r, const char *value)
{
	return auth_header_is_valid(r->server->options.auth, value);
}

static void add_fields(struct pass_text *t, const struct relay *r, const struct http_head *http)
{
	for (size_t i = 0; i < http->fields_count; i++) {
		const struct http_field *f = &http->fields[i];
		if (strcmp(f->name, "authorization") != 0 || !is_our_credential(r, f->value))
			pass_request_field(t, &r->pass, f->name, f->value);
	}
}

bool relay_write_request(struct relay *r, const struct http_head *http, const char *target)
{
	struct pass_text t = {0};
	char text[64];
	for (size_t i = 0; i < http->fields_count; i++)
		if (strcmp(http->fields[i].name, "connection") == 0 &&
			!add_connection(r, http->fields[i].value))
			return false;
	r->pass.connection = r->connection;
	pass_add(&t, http->method);
	pass_add(&t, " ");
	pass_add(&t, target[0] == '/' || target[0] == '*' ? "" : "/");
	pass_add(&t, target);
	pass_add(&t, " HTTP/1.1\r\n");
	snprintf(text, sizeof text, "localhost:%u", r->pass.port);
	pass_field(&t, "host", text);
	add_fields(&t, r, http);
	add_forwarded(&t, r, http);
	if (r->in == RELAY_LENGTH || http_head_field(http, "content-length")) {
		snprintf(text, sizeof text, "%" PRIu64, r->in_left);
		pass_field(&t, "content-length", text);
	} else if (r->in == RELAY_CHUNKED) {
		pass_field(&t, "transfer-encoding", "chunked");
	}
	pass_field(&t, "connection", r->upgrade ? "upgrade" : "close");
	if (r->upgrade)
		pass_field(&t, "upgrade", http_head_field(http, "upgrade"));
	pass_add(&t, "\r\n");
	if (t.failed) {
		free(t.bytes);
		return false;
	}
	r->up_rest = (struct relay_rest){.bytes = t.bytes, .length = t.length};
	return true;
}

static void add_status(struct pass_text *t, const struct answer_head *h)
{
	char status[24];
	snprintf(status, sizeof status, "HTTP/1.1 %d ", h->status);
	pass_add(t, status);
	pass_add(t, h->reason);
	pass_add(t, "\r\n");
}

static void add_answer_fields(
	struct pass_text *t, const struct relay *r, const struct answer_head *h)
{
	for (size_t i = 0; i < h->fields_count; i++)
		pass_answer_field(t, &r->pass, h->fields[i].name, h->fields[i].value);
}

/* Add the headers that tell where the answer ends. */
static void add_framing(struct pass_text *t, struct relay *r, const struct answer_head *h)
{
	char length[24];
	bool told = r->out == ANSWER_LENGTH || (r->out == ANSWER_NONE && h->has_length);
	bool none = h->status == 204 || h->status < 200;
	r->out_framed = (r->out == ANSWER_CHUNKED || r->out == ANSWER_CLOSE) && !r->http_1_0;
	if (!told && !r->out_framed && r->out != ANSWER_NONE)
		r->close_after = true;
	snprintf(length, sizeof length, "%" PRIu64, h->length);
	if (told && !none)
		pass_field(t, "content-length", length);
	else if (r->out_framed)
		pass_field(t, "transfer-encoding", "chunked");
	/* RFC 9110 8.6: without this, the answer would end with the connection. */
	else if (r->out == ANSWER_NONE && !r->head_only && !none && h->status != 304)
		pass_field(t, "content-length", "0");
	if (r->close_after)
		pass_field(t, "connection", "close");
	else if (r->http_1_0)
		pass_field(t, "connection", "keep-alive");
}

static int send_text(struct relay *r, struct pass_text *t)
{
	int rc = t->failed ? -ENOMEM : relay_send_down(r, t->bytes, t->length);
	free(t->bytes);
	return rc;
}

/* Forward a 1xx answer, but not to HTTP/1.0. 100 has been sent by send_continue(). */
static int pass_interim(struct relay *r, const struct answer_head *h)
{
	struct pass_text t = {0};
	if (++r->interims > RELAY_INTERIM_MAX)
		return -EPROTO;
	if (h->status == 100 || r->http_1_0 || r->pass.by_path)
		return 0;
	add_status(&t, h);
	add_answer_fields(&t, r, h);
	pass_add(&t, "\r\n");
	bool begun = r->begun;
	int rc = send_text(r, &t);
	/* An error of ours can still be sent after it. */
	r->begun = begun;
	return rc;
}

/* Forward 101: the connection becomes a tunnel. */
static int pass_switch(struct relay *r, const struct answer_head *h)
{
	struct pass_text t = {0};
	const char *to = http_fields_find(h->fields, h->fields_count, "upgrade");
	if (!r->upgrade || !to)
		return -EPROTO;
	add_status(&t, h);
	add_answer_fields(&t, r, h);
	pass_field(&t, "connection", "upgrade");
	pass_field(&t, "upgrade", to);
	pass_add(&t, "\r\n");
	r->state = RELAY_TUNNEL;
	r->in = RELAY_NONE;
	r->in_over = false;
	r->close_after = true;
	return send_text(r, &t);
}

static int pass_answer(struct relay *r, const struct answer_head *h)
{
	struct pass_text t = {0};
	bool has_policy = http_fields_find(h->fields, h->fields_count, "referrer-policy") != NULL;
	r->out = answer_head_framing(h, r->head_only);
	r->out_left = h->length;
	r->out_over = r->out == ANSWER_NONE;
	r->state = RELAY_BODY;
	/* The rest of the request is not waited for. */
	r->close_after |= !r->in_over;
	add_status(&t, h);
	add_answer_fields(&t, r, h);
	pass_answer_extra(&t, &r->pass, has_policy);
	add_framing(&t, r, h);
	pass_add(&t, "\r\n");
	return send_text(r, &t);
}

/* Forward a complete head: the first length bytes of r->head. */
static int forward_head(struct relay *r, size_t length)
{
	struct answer_head h;
	char *text = malloc(length + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, r->head, length);
	int rc = answer_head_parse(text, length, &h);
	r->connection[0] = '\0';
	for (size_t i = 0; rc == 0 && i < h.fields_count; i++)
		if (strcmp(h.fields[i].name, "connection") == 0 &&
			!add_connection(r, h.fields[i].value))
			rc = -EPROTO;
	if (rc == 0)
		rc = h.status == 101     ? pass_switch(r, &h)
			: h.status < 200 ? pass_interim(r, &h)
					 : pass_answer(r, &h);
	free(text);
	return rc;
}

int relay_forward_head(
	struct relay *r, const char *bytes, size_t length, char **ret_rest, size_t *ret_length)
{
	if (r->head_length + length > ANSWER_HEAD_MAX * 2)
		return -E2BIG;
	char *head = realloc(r->head, r->head_length + length);
	if (!head)
		return -ENOMEM;
	memcpy(head + r->head_length, bytes, length);
	r->head = head;
	r->head_length += length;
	/* There may be heads of 1xx before the answer's. */
	while (r->state == RELAY_HEAD) {
		size_t from = r->head_looked;
		size_t whole = http_fields_head_length(r->head + from, r->head_length - from);
		whole += whole > 0 ? from : 0;
		if (whole > ANSWER_HEAD_MAX || (whole == 0 && r->head_length > ANSWER_HEAD_MAX))
			return -E2BIG;
		if (whole == 0) {
			r->head_looked = r->head_length > 3 ? r->head_length - 3 : 0;
			return 0;
		}
		int rc = forward_head(r, whole);
		if (rc < 0)
			return rc;
		r->head_looked = 0;
		r->head_length -= whole;
		memmove(r->head, r->head + whole, r->head_length);
	}
	*ret_rest = r->head;
	*ret_length = r->head_length;
	return 1;
}
