/* Parses and compares names of hosts and origins. Invalid names are not allowed. */
#include "ws/auth/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void add_own(struct origin_policy *p, const char *host, unsigned port)
{
	if (p->own_count == ORIGIN_ENTRIES_MAX)
		return;
	bool v6 = strchr(host, ':') != NULL;
	snprintf(p->own[p->own_count++], ORIGIN_TEXT_MAX, "%s%s%s:%u", v6 ? "[" : "", host,
		v6 ? "]" : "", port);
	/* Browsers omit the scheme's default port. */
	if (port == (p->tls ? 443u : 80u) && p->own_count < ORIGIN_ENTRIES_MAX)
		snprintf(p->own[p->own_count++], ORIGIN_TEXT_MAX, "%s%s%s", v6 ? "[" : "", host,
			v6 ? "]" : "");
}

void origin_add_listener(struct origin_policy *p, const char *address, unsigned port)
{
	bool any = strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
	bool loopback = any || strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
	if (!any)
		add_own(p, address, port);
	if (!loopback)
		return;
	p->loopback = true;
	add_own(p, "localhost", port);
	add_own(p, "127.0.0.1", port);
	add_own(p, "::1", port);
}

bool origin_add_host(struct origin_policy *p, const char *host)
{
	if (p->hosts_count == ORIGIN_ENTRIES_MAX || !*host || strpbrk(host, "/ @"))
		return false;
	p->hosts[p->hosts_count++] = host;
	return true;
}

bool origin_add_origin(struct origin_policy *p, const char *origin)
{
	const char *rest = strstr(origin, "://");
	if (p->origins_count == ORIGIN_ENTRIES_MAX || !rest || !rest[3] || strchr(rest + 3, '/'))
		return false;
	p->origins[p->origins_count++] = origin;
	return true;
}

/* Length of a host without its port. */
static size_t name_length(const char *host)
{
	const char *bracket = strchr(host, ']');
	const char *colon = strrchr(host, ':');
	return colon && (!bracket || colon > bracket) ? (size_t)(colon - host) : strlen(host);
}

/* Whether --allow-host names host. An entry without a port allows any port. */
static bool is_configured(const struct origin_policy *p, const char *host)
{
	for (size_t i = 0; i < p->hosts_count; i++) {
		const char *entry = p->hosts[i];
		if (strcasecmp(entry, host) == 0)
			return true;
		size_t length = strlen(entry);
		if (name_length(entry) == length && name_length(host) == length &&
			strncasecmp(entry, host, length) == 0)
			return true;
	}
	return false;
}

static bool is_own(const struct origin_policy *p, const char *host)
{
	for (size_t i = 0; i < p->own_count; i++)
		if (strcasecmp(p->own[i], host) == 0)
			return true;
	return false;
}

/* Whether text is empty, or a port as browsers write it. */
static bool is_port(const char *text)
{
	size_t length = strlen(text);
	if (length == 0)
		return true;
	return text[0] == ':' && text[1] != '0' && length > 1 && length <= 6 &&
		strspn(text + 1, "0123456789") == length - 1 && strtoul(text + 1, NULL, 10) <= 65535;
}

/*
 * Length of labels below another name, with the last dot: "a.b." of "a.b.localhost". 0: there are none, or they are invalid.
 * They begin with a letter; names of previews, which are not ours, begin with a digit.
 */
static size_t labels_length(const char *host, const char *name)
{
	static const char letters[] =
		"-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char *const first = letters + 11;
	size_t whole = name_length(host), length = strlen(name), at = 0;
	if (whole <= length || strncasecmp(host + whole - length, name, length) != 0)
		return 0;
	while (at < whole - length) {
		size_t label = strspn(host + at, letters);
		if (strspn(host + at, first) == 0 || host[at + label] != '.')
			return 0;
		at += label + 1;
	}
	return at == whole - length ? at : 0;
}

/*
 * Whether host is a loopback name, with any port (ssh -L). A page of another site never has such a name, even if its own
 * name resolves to this machine: browsers resolve names below localhost themselves (RFC 6761 6.3). The Origin must still match
 * exactly.
 */
static bool is_loopback(const struct origin_policy *p, const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
	host += p->exact ? 0 : labels_length(host, names[0]);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t length = strlen(names[i]);
		if (strncasecmp(host, names[i], length) == 0 && is_port(host + length))
			return true;
	}
	return false;
}

bool origin_host_is_allowed(const struct origin_policy *p, const char *host)
{
	return host &&
		(is_own(p, host) || (p->loopback && is_loopback(p, host)) || is_configured(p, host));
}

/* Whether origin is scheme://host. */
static bool is_of(const char *origin, const char *scheme, const char *host)
{
	size_t length = strlen(scheme);
	return strncasecmp(origin, scheme, length) == 0 && strcasecmp(origin + length, host) == 0;
}

bool origin_is_configured(const struct origin_policy *p, const char *origin)
{
	for (size_t i = 0; i < p->origins_count; i++)
		if (strcasecmp(p->origins[i], origin) == 0)
			return true;
	return false;
}

bool origin_is_own(const struct origin_policy *p, const char *origin, const char *host)
{
	if (!host || !origin_host_is_allowed(p, host))
		return false;
	if (is_of(origin, p->tls ? "https://" : "http://", host))
		return true;
	/* A configured host may be a proxy that terminates TLS. */
	return is_configured(p, host) && is_of(origin, "https://", host);
}

bool origin_is_allowed(const struct origin_policy *p, const char *origin, const char *host)
{
	return origin_is_configured(p, origin) || origin_is_own(p, origin, host);
}
