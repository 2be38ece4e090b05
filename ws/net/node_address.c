/* URLs of nodes are written by nodes, so that everything but the usual form is refused. */
#include "ws/net/node_address.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text >= 0x7f)
			return false;
	return true;
}

/* Parse an optional ":PORT", which must end the text. */
static bool read_port(const char *text, const char *end, uint16_t *ret_port)
{
	unsigned long port = 0;
	if (text == end)
		return true;
	if (*text++ != ':' || text == end || end - text > 5)
		return false;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9')
			return false;
		port = port * 10 + (unsigned long)(*text - '0');
	}
	if (port == 0 || port > UINT16_MAX)
		return false;
	*ret_port = (uint16_t)port;
	return true;
}

/* Parse HOST[:PORT] up to end. */
static bool read_host(const char *text, const char *end, struct node_address *a)
{
	bool v6 = *text == '[';
	const char *host = v6 ? text + 1 : text;
	size_t length = strcspn(host, v6 ? "]" : ":/");
	const char *after = host + length + v6;
	if (length == 0 || length > NODE_ADDRESS_HOST_MAX || after > end)
		return false;
	memcpy(a->host, host, length);
	a->host[length] = '\0';
	a->port = a->tls ? 443 : 80;
	if (v6 != (strchr(a->host, ':') != NULL) || strpbrk(a->host, "@?#\\\"<>%+"))
		return false;
	uint16_t usual = a->port;
	if (!read_port(after, end, &a->port))
		return false;
	int used = snprintf(a->authority, sizeof a->authority, v6 ? "[%s]" : "%s", a->host);
	if (a->port != usual)
		snprintf(a->authority + used, sizeof a->authority - (size_t)used, ":%u", a->port);
	return true;
}

int node_address_read(const char *url, const char *target, struct node_address *ret_address)
{
	struct node_address a = {.tls = strncmp(url, "https://", 8) == 0};
	size_t scheme = a.tls ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
	if (scheme == 0 || !is_printable(url) || !is_printable(target) || target[0] != '/')
		return -EINVAL;
	const char *prefix = url + scheme + strcspn(url + scheme, "/");
	size_t length = strlen(prefix);
	while (length > 0 && prefix[length - 1] == '/')
		length--;
	if (!read_host(url + scheme, prefix, &a) || strpbrk(prefix, "?#"))
		return -EINVAL;
	if (length + strlen(target) > NODE_ADDRESS_TARGET_MAX)
		return -E2BIG;
	if (asprintf(&a.target, "%.*s%s", (int)length, prefix, target) < 0)
		return -ENOMEM;
	*ret_address = a;
	return 0;
}

void node_address_finish(struct node_address *a)
{
	free(a->target);
	a->target = NULL;
}

bool node_ips_parse(const char *host, struct node_ips *ret_ips)
{
	unsigned char bytes[sizeof(struct in6_addr)];
	if (strlen(host) >= INET6_ADDRSTRLEN ||
		(inet_pton(AF_INET, host, bytes) != 1 && inet_pton(AF_INET6, host, bytes) != 1))
		return false;
	*ret_ips = (struct node_ips){.count = 1};
	memcpy(ret_ips->ip[0], host, strlen(host) + 1);
	return true;
}

/* Lookups */

struct node_lookup {
	uv_getaddrinfo_t request;
	node_lookup_done done; /* NULL: cancelled */
	void *user;
};

static void on_looked_up(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
	struct node_lookup *l = request->data;
	struct node_ips ips = {0};
	const struct addrinfo *next = status == 0 ? found : NULL;
	for (; next && ips.count < NODE_ADDRESS_IPS_MAX; next = next->ai_next) {
		const void *at = next->ai_addr;
		char *ip = ips.ip[ips.count];
		if ((next->ai_family == AF_INET && uv_ip4_name(at, ip, INET6_ADDRSTRLEN) == 0) ||
			(next->ai_family == AF_INET6 && uv_ip6_name(at, ip, INET6_ADDRSTRLEN) == 0))
			ips.count++;
	}
	uv_freeaddrinfo(found);
	if (l->done)
		l->done(l->user, &ips);
	free(l);
}

struct node_lookup *node_lookup_begin(
	uv_loop_t *loop, const char *host, node_lookup_done done, void *user)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct node_lookup *l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	*l = (struct node_lookup){.done = done, .user = user};
	l->request.data = l;
	if (uv_getaddrinfo(loop, &l->request, on_looked_up, host, NULL, &hints) == 0)
		return l;
	free(l);
	return NULL;
}

void node_lookup_cancel(struct node_lookup *l)
{
	if (!l)
		return;
	l->done = NULL;
	uv_cancel((uv_req_t *)&l->request); /* it may be running already */
}
