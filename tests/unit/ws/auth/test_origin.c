#include "ws/auth/origin.h"

#include <criterion/criterion.h>
#include <string.h>

static struct origin_policy p;

static void set_up(void)
{
	p = (struct origin_policy){0};
}

TestSuite(origin_host, .init = set_up);
TestSuite(origin, .init = set_up);
TestSuite(origin_add, .init = set_up);

static void expect_hosts(const char *const *allowed, const char *const *refused)
{
	for (; *allowed; allowed++)
		cr_expect(origin_host_is_allowed(&p, *allowed), "%s", *allowed);
	for (; *refused; refused++)
		cr_expect_not(origin_host_is_allowed(&p, *refused), "%s", *refused);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(origin_host, loopback_listener)
{
	origin_add_listener(&p, "127.0.0.1", 7070);
	expect_hosts(LIST("127.0.0.1:7070", "localhost:7070", "LOCALHOST:7070", "[::1]:7070",
			     "127.0.0.1", "localhost", "localhost:7071", "127.0.0.1:707", "[::1]:1"),
		LIST("127.0.0.1:70700", "localhost:", "localhost:0", "localhost:+80",
			"localhost:80:80", "localhost:8080x", "[::1]8080", "127.0.0.2:7070",
			"localhosts:7070", "evil.com", "evil.com:7070", "localhost.evil.com:7070",
			"127.0.0.1.evil.com:7070", "", "localhost.:7070", "user@localhost:7070",
			"localhost:7070 ", " localhost:7070", "localhost:07070", "127.1:7070",
			"0.0.0.0:7070", "::1:7070"));
	cr_expect_not(origin_host_is_allowed(&p, NULL));
}

Test(origin_host, names_below_localhost)
{
	origin_add_listener(&p, "127.0.0.1", 7070);
	expect_hosts(LIST("work.localhost", "work.localhost:7070", "WORK.LocalHost:1",
			     "a.b-c9.localhost:8080"),
		LIST("work.localhost:", "work.localhost:0", "work.localhost:70700",
			"work.localhost.", ".localhost", "a..localhost", "-.localhost",
			"-a.localhost", "a.-.localhost", "a b.localhost", "a/b.localhost",
			"a@b.localhost", "a:1.localhost", "a_b.localhost", "work.localhost.evil.com",
			"evil-localhost", "xlocalhost", "work.127.0.0.1", "work.[::1]",
			"8080-s-abcdefghijklmnop.localhost:7070", "80.localhost", "a.80.localhost"));
	p.exact = true;
	expect_hosts(LIST("localhost:1"), LIST("work.localhost", "work.localhost:7070"));
}

Test(origin_host, address_of_an_interface)
{
	origin_add_listener(&p, "192.168.1.5", 80);
	expect_hosts(LIST("192.168.1.5", "192.168.1.5:80"),
		LIST("localhost", "127.0.0.1", "192.168.1.5:81"));
}

Test(origin_host, default_port_may_be_left_out)
{
	p.tls = true;
	origin_add_listener(&p, "127.0.0.1", 443);
	expect_hosts(LIST("localhost", "localhost:443", "[::1]"), LIST("localhost.example"));
}

Test(origin_host, any_address_allows_loopback_only)
{
	origin_add_listener(&p, "0.0.0.0", 7070);
	expect_hosts(
		LIST("localhost:7070", "127.0.0.1:7070"), LIST("192.168.1.5:7070", "0.0.0.0:7070"));
}

Test(origin_host, ipv6_listener)
{
	origin_add_listener(&p, "fe80::1", 7070);
	expect_hosts(
		LIST("[fe80::1]:7070", "[FE80::1]:7070"), LIST("fe80::1:7070", "[fe80::2]:7070"));
}

Test(origin_host, configured_without_a_port_allows_any)
{
	origin_add_listener(&p, "127.0.0.1", 7070);
	cr_assert(origin_add_host(&p, "box.example"));
	expect_hosts(LIST("box.example", "BOX.example:1", "box.example:443"),
		LIST("xbox.example", "box.example.com", "a.box.example", "box.exampl",
			"box.example@evil.com"));
}

Test(origin_host, configured_with_a_port_is_exact)
{
	cr_assert(origin_add_host(&p, "box.example:8080"));
	expect_hosts(LIST("box.example:8080"),
		LIST("box.example", "box.example:80", "box.example:80801"));
}

Test(origin_host, configured_ipv6)
{
	cr_assert(origin_add_host(&p, "[2001:db8::1]"));
	expect_hosts(
		LIST("[2001:db8::1]", "[2001:db8::1]:7070"), LIST("[2001:db8::]:1", "2001:db8::1"));
}

Test(origin, must_match_the_host)
{
	static const struct {
		const char *origin, *host;
		bool allowed;
	} cases[] = {
		{"http://localhost:7070", "localhost:7070", true},
		{"http://127.0.0.1:7070", "127.0.0.1:7070", true},
		{"HTTP://LOCALHOST:7070", "localhost:7070", true},
		{"http://localhost:7070", "127.0.0.1:7070", false},
		{"https://localhost:7070", "localhost:7070", false},
		{"http://localhost:7071", "localhost:7070", false},
		{"http://localhost", "localhost:7070", false},
		{"http://localhost:7070/", "localhost:7070", false},
		{"http://localhost:7070.evil.com", "localhost:7070", false},
		{"http://evil.com", "localhost:7070", false},
		{"http://evil.com:7070", "evil.com:7070", false},
		{"null", "localhost:7070", false},
		{"", "localhost:7070", false},
		{"localhost:7070", "localhost:7070", false},
		{"file://", "localhost:7070", false},
		{"http://", "", false},
	};
	origin_add_listener(&p, "127.0.0.1", 7070);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_expect_eq(origin_is_allowed(&p, cases[i].origin, cases[i].host),
			cases[i].allowed, "%s for %s", cases[i].origin, cases[i].host);
	cr_expect_not(origin_is_allowed(&p, "http://localhost:7070", NULL));
}

Test(origin, is_https_with_tls)
{
	p.tls = true;
	origin_add_listener(&p, "127.0.0.1", 7070);
	cr_assert(origin_is_allowed(&p, "https://localhost:7070", "localhost:7070"));
	cr_assert_not(origin_is_allowed(&p, "http://localhost:7070", "localhost:7070"));
}

Test(origin, proxy_may_terminate_tls_for_a_configured_host)
{
	origin_add_host(&p, "box.example");
	cr_assert(origin_is_allowed(&p, "https://box.example", "box.example"));
	cr_assert(origin_is_allowed(&p, "http://box.example", "box.example"));
	cr_assert_not(origin_is_allowed(&p, "https://other.example", "box.example"));
	cr_assert_not(origin_is_allowed(&p, "https://box.example:8443", "box.example"));
}

Test(origin, configured_origin_may_use_any_of_our_hosts)
{
	origin_add_listener(&p, "127.0.0.1", 7070);
	cr_assert(origin_add_origin(&p, "https://app.example"));
	cr_assert(origin_is_allowed(&p, "https://app.example", "localhost:7070"));
	cr_assert_not(origin_is_allowed(&p, "https://app.example.evil.com", "localhost:7070"));
	cr_assert_not(origin_is_allowed(&p, "http://app.example", "localhost:7070"));
}

Test(origin_add, refuses_invalid_origins)
{
	cr_expect_not(origin_add_host(&p, ""));
	cr_expect_not(origin_add_host(&p, "http://x"));
	cr_expect_not(origin_add_host(&p, "x/y"));
	cr_expect_not(origin_add_host(&p, "a b"));
	cr_expect_not(origin_add_host(&p, "u@h"));
	cr_expect_not(origin_add_origin(&p, ""));
	cr_expect_not(origin_add_origin(&p, "app.example"));
	cr_expect_not(origin_add_origin(&p, "https://"));
	cr_expect_not(origin_add_origin(&p, "https://app.example/"));
	cr_expect_not(origin_add_origin(&p, "null"));
	cr_expect_eq(p.hosts_count + p.origins_count, 0);
}

Test(origin_add, refuses_too_many)
{
	for (unsigned i = 0; i < ORIGIN_ENTRIES_MAX; i++) {
		cr_assert(origin_add_host(&p, "a"));
		cr_assert(origin_add_origin(&p, "http://a"));
	}
	cr_assert_not(origin_add_host(&p, "b"));
	cr_assert_not(origin_add_origin(&p, "http://b"));
	for (unsigned i = 0; i < ORIGIN_ENTRIES_MAX; i++)
		origin_add_listener(&p, "127.0.0.1", 443 + i);
	cr_assert_leq(p.own_count, ORIGIN_ENTRIES_MAX);
}

Test(origin_add, long_address_is_cut)
{
	char address[2 * ORIGIN_TEXT_MAX];
	memset(address, 'a', sizeof address - 1);
	address[sizeof address - 1] = '\0';
	origin_add_listener(&p, address, 7070);
	cr_assert_lt(strlen(p.own[0]), ORIGIN_TEXT_MAX);
}

Test(origin_is_configured, only_configured_origins)
{
	cr_assert(origin_add_origin(&p, "https://app.example"));
	cr_assert(origin_add_host(&p, "proxy.example"));
	origin_add_listener(&p, "127.0.0.1", 7070);
	cr_assert(origin_is_configured(&p, "https://app.example"));
	cr_assert(origin_is_configured(&p, "https://APP.example"));
	cr_assert_not(origin_is_configured(&p, "https://app.example:443"));
	cr_assert_not(origin_is_configured(&p, "http://app.example"));
	cr_assert_not(origin_is_configured(&p, "https://app.example.evil"));
	cr_assert_not(origin_is_configured(&p, "null"));
	cr_assert_not(origin_is_configured(&p, ""));
	/* Allowed, but its pages are not ours. */
	cr_assert(origin_is_allowed(&p, "http://127.0.0.1:7070", "127.0.0.1:7070"));
	cr_assert_not(origin_is_configured(&p, "http://127.0.0.1:7070"));
	cr_assert_not(origin_is_configured(&p, "https://proxy.example"));
}

Test(origin_is_own, own_and_those_of_a_proxy)
{
	origin_add_listener(&p, "127.0.0.1", 7070);
	origin_add_origin(&p, "https://app.example");
	origin_add_host(&p, "box.example");
	cr_assert(origin_is_own(&p, "http://127.0.0.1:7070", "127.0.0.1:7070"));
	cr_assert(origin_is_own(&p, "https://box.example", "box.example"));
	cr_assert_not(origin_is_own(&p, "https://app.example", "127.0.0.1:7070"), "allowed only");
	cr_assert_not(origin_is_own(&p, "http://127.0.0.1:7071", "127.0.0.1:7070"), "another port");
	cr_assert_not(origin_is_own(&p, "null", "127.0.0.1:7070"));
	cr_assert_not(origin_is_own(&p, "http://127.0.0.1:7070", NULL));
}
