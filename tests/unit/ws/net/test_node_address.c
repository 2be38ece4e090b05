#include "ws/net/node_address.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

Test(node_address, urls_are_split)
{
	static const struct {
		const char *url;
		bool tls;
		const char *host;
		uint16_t port;
		const char *authority, *target;
	} cases[] = {
		{"http://10.0.0.2:7070", false, "10.0.0.2", 7070, "10.0.0.2:7070", "/t?a=b"},
		{"http://node", false, "node", 80, "node", "/t?a=b"},
		{"http://node:80/", false, "node", 80, "node", "/t?a=b"},
		{"http://node:443", false, "node", 443, "node:443", "/t?a=b"},
		{"https://node-1.example:443/x", true, "node-1.example", 443, "node-1.example",
			"/x/t?a=b"},
		{"https://node/x/y//", true, "node", 443, "node", "/x/y/t?a=b"},
		{"https://[::1]:7070/", true, "::1", 7070, "[::1]:7070", "/t?a=b"},
		{"http://[fd00::2]", false, "fd00::2", 80, "[fd00::2]", "/t?a=b"},
		{"http://node:65535", false, "node", 65535, "node:65535", "/t?a=b"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct node_address a;
		cr_assert_eq(node_address_read(cases[i].url, "/t?a=b", &a), 0, "%s", cases[i].url);
		cr_assert_eq(a.tls, cases[i].tls);
		cr_assert_str_eq(a.host, cases[i].host);
		cr_assert_eq(a.port, cases[i].port);
		cr_assert_str_eq(a.authority, cases[i].authority);
		cr_assert_str_eq(a.target, cases[i].target);
		node_address_finish(&a);
	}
}

Test(node_address, other_urls_are_invalid)
{
	static const char *const urls[] = {"", "http:", "http://", "http:///a", "https://:7070",
		"ws://node", "HTTP://node", "node:7070", "http://node:", "http://node:0",
		"http://node:65536", "http://node:999999", "http://node:+1", "http://node:1x",
		"http://user@node", "http://::1", "http://[::1", "http://[::1]x", "http://[node]",
		"http://[]", "http://node/a?b", "http://node/#a", "http://node/a b",
		"http://no\tde", "http://node/\r\nX: y", "http://node/\xc3\xa4", "http://+unix"};
	struct node_address a;
	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
		cr_assert_eq(node_address_read(urls[i], "/t", &a), -EINVAL, "%s", urls[i]);
	static const char *const targets[] = {"", "t", "/a b", "/\r\nX: y", "/\x7f"};
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		cr_assert_eq(node_address_read("http://node", targets[i], &a), -EINVAL, "%s",
			targets[i]);
}

Test(node_address, lengths_are_limited)
{
	char host[NODE_ADDRESS_HOST_MAX + 2], url[256], target[NODE_ADDRESS_TARGET_MAX + 2];
	struct node_address a;
	memset(host, 'h', sizeof host - 1);
	host[sizeof host - 1] = '\0';
	snprintf(url, sizeof url, "http://%s:65535", host);
	cr_assert_eq(node_address_read(url, "/", &a), -EINVAL);
	snprintf(url, sizeof url, "http://%s:65535", host + 1);
	cr_assert_eq(node_address_read(url, "/", &a), 0);
	cr_assert_str_eq(a.authority, url + 7);
	node_address_finish(&a);
	memset(target, '/', sizeof target - 1);
	target[sizeof target - 1] = '\0';
	cr_assert_eq(node_address_read("http://node", target, &a), -E2BIG);
	cr_assert_eq(node_address_read("http://node", target + 1, &a), 0);
	cr_assert_str_eq(a.target, target + 1);
	node_address_finish(&a);
	cr_assert_eq(node_address_read("http://node/x", target + 1, &a), -E2BIG);
}

Test(node_address, addresses_need_no_lookup)
{
	struct node_ips ips;
	cr_assert(node_ips_parse("127.0.0.1", &ips));
	cr_assert_eq(ips.count, 1);
	cr_assert_str_eq(ips.ip[0], "127.0.0.1");
	cr_assert(node_ips_parse("fd00::2", &ips));
	cr_assert_str_eq(ips.ip[0], "fd00::2");
	cr_assert_not(node_ips_parse("node", &ips));
	cr_assert_not(node_ips_parse("127.1", &ips));
	cr_assert_not(node_ips_parse("", &ips));
}
