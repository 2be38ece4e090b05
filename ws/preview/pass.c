/* Tables of fields, and the few that are changed. */
#include "ws/preview/pass.h"

#include "ws/http_field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GROW_MIN ((size_t)1024)
#define OWN_COOKIE "ringside-"
#define OWN_COOKIE_SECURE "__Host-ringside-"

void pass_add_bytes(struct pass_text *t, const char *bytes, size_t length)
{
	if (t->failed || length > PASS_TEXT_MAX - t->length) {
		t->failed = true;
		return;
	}
	size_t size = t->size ? t->size : GROW_MIN;
	while (size < t->length + length)
		size *= 2;
	if (size > t->size) {
		char *grown = realloc(t->bytes, size);
		if (!grown) {
			t->failed = true;
			return;
		}
		t->bytes = grown;
		t->size = size;
	}
	memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
}

void pass_add(struct pass_text *t, const char *text)
{
	pass_add_bytes(t, text, strlen(text));
}

void pass_field(struct pass_text *t, const char *name, const char *value)
{
	pass_add(t, name);
	pass_add(t, ": ");
	pass_add(t, value);
	pass_add(t, "\r\n");
}

/* Whether name matches an entry, in which '*' is any rest. '_' counts as '-', as in programs that map names to variables. */
static bool is_entry(const char *entry, const char *name)
{
	for (; *entry && *entry != '*'; entry++, name++)
		if (*entry != (*name == '_' ? '-' : *name))
			return false;
	return *entry || !*name;
}

/* Whether a table, which ends with NULL, has an entry for name. */
static bool is_among(const char *const *table, const char *name)
{
	for (; *table; table++)
		if (is_entry(*table, name))
			return true;
	return false;
}

/* Fields of a connection, not of the request: RFC 9110 7.6.1, and fields of old proxies. */
static const char *const hop_by_hop[] = {"connection", "keep-alive", "proxy-*", "te", "trailer",
	"transfer-encoding", "upgrade", "http2-settings", NULL};

static bool is_of_connection(const struct pass *p, const char *name)
{
	return is_among(hop_by_hop, name) || http_value_has_token(p->connection, name);
}

/* Whether a cookie belongs to Ringside: to this server or another one on the same host. */
static bool is_own_cookie(const char *cookie, size_t length)
{
	static const char *const names[] = {OWN_COOKIE, OWN_COOKIE_SECURE};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);
		if (length >= n && strncmp(cookie, names[i], n) == 0)
			return true;
	}
	return false;
}

static void pass_cookies(struct pass_text *t, const char *value)
{
	const char *before = "cookie: ";
	for (const char *p = value; *p;) {
		p += strspn(p, "; \t");
		size_t length = strcspn(p, ";");
		if (length > 0 && !is_own_cookie(p, length)) {
			pass_add(t, before);
			pass_add_bytes(t, p, length);
			before = "; ";
		}
		p += length;
	}
	if (before[0] == ';')
		pass_add(t, "\r\n");
}

/* Length of the preview's own "scheme://host" at the start of text; 0 if it does not start with that. */
static size_t own_length(const struct pass *p, const char *text)
{
	size_t scheme = strlen(p->scheme), host = strlen(p->host);
	if (strncasecmp(text, p->scheme, scheme) != 0 || strncmp(text + scheme, "://", 3) != 0 ||
		strncasecmp(text + scheme + 3, p->host, host) != 0)
		return 0;
	const char end = text[scheme + 3 + host];
	return !end || strchr("/?#", end) ? scheme + 3 + host : 0;
}

/* The program's own name is localhost, so replace the preview's origin by that in Origin and Referer. */
static void pass_own(struct pass_text *t, const struct pass *p, const char *name, const char *value)
{
	char origin[40];
	size_t length = own_length(p, value);
	snprintf(origin, sizeof origin, "http://localhost:%u", p->port);
	pass_add(t, name);
	pass_add(t, ": ");
	pass_add(t, length > 0 ? origin : "");
	pass_add(t, value + length);
	pass_add(t, "\r\n");
}

void pass_request_field(
	struct pass_text *t, const struct pass *p, const char *name, const char *value)
{
	/* Most of these are written anew. "proxy" is dropped because of httpoxy (https://httpoxy.org). */
	static const char *const dropped[] = {"host", "content-length", "expect", "forwarded",
		"x-forwarded-*", "x-real-ip", "x-original-url", "x-sandbox-name", "proxy", NULL};
	/* Fields for Ringside, in the path form. */
	static const char *const ours[] = {"authorization", "cookie", "x-session-id", NULL};
	if (is_of_connection(p, name) || is_among(dropped, name) ||
		(p->by_path && is_among(ours, name)))
		return;
	if (strcmp(name, "cookie") == 0)
		pass_cookies(t, value);
	else if (!p->by_path && (strcmp(name, "origin") == 0 || strcmp(name, "referer") == 0))
		pass_own(t, p, name, value);
	else if (!p->by_path || (strcmp(name, "origin") != 0 && strcmp(name, "referer") != 0))
		pass_field(t, name, value);
}

/* Remove the Domain attribute, so that the cookie is only for the preview's host. */
static void pass_set_cookie(struct pass_text *t, const char *value)
{
	const char *before = "set-cookie: ";
	for (const char *p = value; *p;) {
		size_t length = strcspn(p, ";");
		const char *name = p + strspn(p, " \t");
		/* The first part is the cookie itself, whatever its name. */
		if (p == value || strncasecmp(name, "domain", 6) != 0 || !strchr("= \t;", name[6])) {
			pass_add(t, before);
			pass_add_bytes(t, p, length);
			before = ";";
		}
		p += length + (p[length] == ';');
	}
	if (before[0] == ';')
		pass_add(t, "\r\n");
}

/* Rewrite a redirect to the program's own address so that it works from outside. */
static void pass_location(
	struct pass_text *t, const struct pass *p, const char *name, const char *value)
{
	static const char *const hosts[] = {"localhost", "127.0.0.1", "[::1]"};
	char own[40], prefix[24] = "";
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
		int n = snprintf(own, sizeof own, "http://%s:%u", hosts[i], p->port);
		if (strncasecmp(value, own, (size_t)n) == 0 &&
			(!value[n] || strchr("/?#", value[n]))) {
			value = value[n] ? value + n : "/";
			break;
		}
	}
	if (p->by_path && value[0] == '/' && value[1] != '/')
		snprintf(prefix, sizeof prefix, "/proxy/%u", p->port);
	pass_add(t, name);
	pass_add(t, ": ");
	pass_add(t, prefix);
	pass_add(t, value);
	pass_add(t, "\r\n");
}

/*
 * In the path form the answer has Ringside's origin, so only fields that describe the body pass: none may set, clear, report
 * or register anything for this origin.
 */
static const char *const described[] = {"accept-ranges", "age", "allow", "content-*", "date",
	"etag", "last-modified", "location", "retry-after", "sec-websocket-*", "server", "vary",
	"x-*", NULL};

void pass_answer_field(
	struct pass_text *t, const struct pass *p, const char *name, const char *value)
{
	/*
	 * Commands to a proxy in front of us, fields that affect more than the preview's host, alternative ports, and the
	 * length, which is written anew.
	 */
	static const char *const dropped[] = {"content-length", "x-accel-*", "x-sendfile*",
		"x-lighttpd-send*", "clear-site-data", "alt-svc", "public-key-pins*", NULL};
	if (is_of_connection(p, name) || is_among(dropped, name) ||
		(p->by_path && !is_among(described, name)))
		return;
	/* pass_answer_extra() writes ours. */
	if (p->by_path &&
		(strcmp(name, "x-content-type-options") == 0 || strcmp(name, "x-frame-options") == 0))
		return;
	if (strcmp(name, "set-cookie") == 0)
		pass_set_cookie(t, value);
	else if (strcmp(name, "location") == 0 || strcmp(name, "content-location") == 0)
		pass_location(t, p, name, value);
	else
		pass_field(t, name, value);
}

void pass_answer_extra(struct pass_text *t, const struct pass *p, bool has_policy)
{
	if (!p->by_path) {
		/* The host's name is secret, so it must not reach other sites. */
		if (!has_policy)
			pass_field(t, "referrer-policy", "same-origin");
		pass_field(t, "x-robots-tag", "noindex");
		return;
	}
	/* The page gets an opaque origin. */
	pass_field(t, "content-security-policy",
		"sandbox allow-scripts allow-forms allow-modals allow-popups allow-downloads; frame-ancestors 'none'");
	pass_field(t, "x-content-type-options", "nosniff");
	pass_field(t, "cross-origin-resource-policy", "same-origin");
	pass_field(t, "cross-origin-opener-policy", "same-origin");
	pass_field(t, "referrer-policy", "no-referrer");
	pass_field(t, "cache-control", "no-store");
}
