/*
 * Host and Origin headers. Input, line by line: the headers, and what is allowed besides our own listener. The first
 * byte determines TLS and the port.
 */
#include "tests/fuzz/fuzz.h"
#include "ws/auth/origin.h"

#include <stdio.h>
#include <strings.h>

static bool is_own(const struct origin_policy *p, const char *host)
{
	for (size_t i = 0; i < p->own_count; i++)
		if (strcasecmp(p->own[i], host) == 0)
			return true;
	return false;
}

/* Names of loopback, with any port. Below localhost any, but not those of previews. */
static bool is_loopback(const struct origin_policy *p, const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
	size_t labels = strcspn(host, ":");
	if (!p->exact && labels > 10 && strncasecmp(host + labels - 10, ".localhost", 10) == 0 &&
		(*host < '0' || *host > '9') && *host != '.' && *host != '-')
		host += labels - 9;
	for (size_t i = 0; p->loopback && i < sizeof names / sizeof *names; i++) {
		size_t length = strlen(names[i]);
		if (strncasecmp(host, names[i], length) == 0 &&
			(!host[length] || host[length] == ':'))
			return !strpbrk(host + length, "/@. ");
	}
	return false;
}

/* Only listed hosts are allowed: exactly, or with a different port. */
static void check_host(const struct origin_policy *p, const char *host, const char *entry)
{
	if (!origin_host_is_allowed(p, host)) {
		FUZZ_CHECK(!is_own(p, host));
		return;
	}
	if (is_own(p, host) || is_loopback(p, host))
		return;
	size_t length = strlen(entry);
	FUZZ_CHECK(p->hosts_count > 0 && length > 0 && strncasecmp(host, entry, length) == 0);
	FUZZ_CHECK(host[length] == '\0' || host[length] == ':');
	/* Only a port may follow, of any number. */
	FUZZ_CHECK(host[length] == '\0' || !strchr(host + length + 1, ':'));
}

static void check_origin(const struct origin_policy *p, const char *origin, const char *host)
{
	if (!origin_is_allowed(p, origin, host))
		return;
	if (p->origins_count > 0 && strcasecmp(p->origins[0], origin) == 0)
		return;
	const char *rest = strstr(origin, "://");
	FUZZ_CHECK(rest && strcasecmp(rest + 3, host) == 0 && origin_host_is_allowed(p, host));
	FUZZ_CHECK(strncasecmp(origin, "https://", 8) == 0 ||
		(!p->tls && strncasecmp(origin, "http://", 7) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	static const unsigned ports[] = {7070, 80, 443, 65535};
	struct origin_policy *p = fuzz_alloc(sizeof *p);
	*p = (struct origin_policy){0};
	uint8_t kind = fuzz_byte(&in);
	p->tls = kind & 1;
	p->exact = kind & 8;
	char *host = fuzz_text(&in, '\n'), *origin = fuzz_text(&in, '\n');
	char *entry = fuzz_text(&in, '\n'), *allowed = fuzz_text(&in, '\n');
	char *address = fuzz_text(&in, '\n');
	origin_add_listener(p, address, ports[kind >> 1 & 3]);
	FUZZ_CHECK(!origin_host_is_allowed(p, NULL));
	if (origin_add_host(p, entry))
		FUZZ_CHECK(origin_host_is_allowed(p, entry));
	if (origin_add_origin(p, allowed))
		FUZZ_CHECK(
			origin_is_allowed(p, allowed, host) && origin_is_allowed(p, allowed, NULL));
	check_host(p, host, entry);
	check_origin(p, origin, host);
	free(address);
	free(allowed);
	free(entry);
	free(origin);
	free(host);
	free(p);
	return 0;
}
