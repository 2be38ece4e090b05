#include "ws/preview/pass.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct pass by_host = {.port = 5173,
	.scheme = "http",
	.host = "5173-a-b.localhost:7070",
	.connection = "x-hop, close"};
static const struct pass by_path = {
	.port = 5173, .by_path = true, .scheme = "http", .host = "127.0.0.1:7070", .connection = ""};

typedef void (*passes)(
	struct pass_text *t, const struct pass *p, const char *name, const char *value);

/* Pass a field; want: the result, or NULL if it is dropped. */
static void expect(
	passes how, const struct pass *p, const char *name, const char *value, const char *want)
{
	struct pass_text t = {0};
	how(&t, p, name, value);
	pass_add_bytes(&t, "", 1);
	cr_assert_str_eq(t.bytes, want, "%s: %s", name, value);
	free(t.bytes);
}

/* Check a field of a request to a server that has a host name of its own. */
static void expect_request(const char *name, const char *value, const char *want)
{
	expect(pass_request_field, &by_host, name, value, want);
}

/* Check a field of its answer. */
static void expect_answer(const char *name, const char *value, const char *want)
{
	expect(pass_answer_field, &by_host, name, value, want);
}

Test(pass_request_field, fields_of_the_connection_and_of_ringside_are_dropped, .timeout = 10)
{
	static const char *const dropped[] = {"connection", "keep-alive", "te", "trailer",
		"transfer-encoding", "upgrade", "proxy-authorization", "x-hop", "host",
		"content-length", "expect", "x-forwarded-for", "forwarded", "x-real-ip",
		"x_forwarded_for", "x-forwarded_host", "x_real_ip", "content_length", "proxy"};
	for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
		expect_request(dropped[i], "1", "");
	static const char *const by_path_too[] = {
		"authorization", "cookie", "x-session-id", "origin", "referer"};
	for (size_t i = 0; i < sizeof by_path_too / sizeof *by_path_too; i++)
		expect(pass_request_field, &by_path, by_path_too[i], "1", "");
	expect_request("x-mine", "1", "x-mine: 1\r\n");
	expect_request("x_mine", "1", "x_mine: 1\r\n");
	expect_request("proxyx", "1", "proxyx: 1\r\n");
	expect_request("x-forwarde", "1", "x-forwarde: 1\r\n");
	expect_request("authorization", "Basic x", "authorization: Basic x\r\n");
}

Test(pass_request_field, cookies_of_ringside_are_dropped, .timeout = 10)
{
	expect_request("cookie", "a=1; ringside-12=x; b=2", "cookie: a=1; b=2\r\n");
	expect_request("cookie", "ringside-12=x", "");
	expect_request("cookie", "__Host-ringside-12-ab=x;c=3", "cookie: c=3\r\n");
	expect_request("cookie", ";; ;", "");
}

Test(pass_request_field, its_own_origin_becomes_localhost, .timeout = 10)
{
	expect_request(
		"origin", "http://5173-a-b.localhost:7070", "origin: http://localhost:5173\r\n");
	expect_request("referer", "HTTP://5173-A-B.localhost:7070/x?y",
		"referer: http://localhost:5173/x?y\r\n");
	expect_request("origin", "http://5173-a-b.localhost:70701",
		"origin: http://5173-a-b.localhost:70701\r\n");
	expect_request("origin", "https://5173-a-b.localhost:7070",
		"origin: https://5173-a-b.localhost:7070\r\n");
	expect_request("origin", "null", "origin: null\r\n");
}

Test(pass_answer_field, cookies_lose_their_domain, .timeout = 10)
{
	expect_answer("set-cookie", "a=b; Domain=x; Path=/", "set-cookie: a=b; Path=/\r\n");
	expect_answer("set-cookie", "domain=b;domain ; DOMAIN", "set-cookie: domain=b\r\n");
	expect_answer("set-cookie", "a=b; domains=c", "set-cookie: a=b; domains=c\r\n");
	expect(pass_answer_field, &by_path, "set-cookie", "a=b", "");
}

Test(pass_answer_field, redirects_keep_the_previews_address, .timeout = 10)
{
	expect_answer("location", "http://localhost:5173/a", "location: /a\r\n");
	expect_answer("location", "http://[::1]:5173", "location: /\r\n");
	expect_answer("location", "http://127.0.0.1:5173/a?b", "location: /a?b\r\n");
	expect_answer(
		"location", "http://localhost:51730/a", "location: http://localhost:51730/a\r\n");
	expect(pass_answer_field, &by_path, "location", "/a", "location: /proxy/5173/a\r\n");
	expect(pass_answer_field, &by_path, "location", "//a/b", "location: //a/b\r\n");
	expect(pass_answer_field, &by_path, "location", "a", "location: a\r\n");
}

Test(pass_answer_field, by_path_only_fields_of_the_body, .timeout = 10)
{
	static const char *const dropped[] = {"strict-transport-security", "clear-site-data",
		"service-worker-allowed", "access-control-allow-origin", "nel", "report-to",
		"alt-svc", "x-accel-redirect", "x-sendfile", "refresh", "link", "www-authenticate",
		"cache-control"};
	for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
		expect(pass_answer_field, &by_path, dropped[i], "1", "");
	static const char *const dropped_by_host[] = {
		"clear-site-data", "alt-svc", "x-accel-redirect", "content-length"};
	for (size_t i = 0; i < sizeof dropped_by_host / sizeof *dropped_by_host; i++)
		expect_answer(dropped_by_host[i], "1", "");
	expect(pass_answer_field, &by_path, "content-type", "text/html",
		"content-type: text/html\r\n");
}

Test(pass_add, number_is_limited, .timeout = 10)
{
	struct pass_text t = {0};
	char piece[4096];
	memset(piece, 'x', sizeof piece);
	for (size_t i = 0; i < PASS_TEXT_MAX / sizeof piece; i++)
		pass_add_bytes(&t, piece, sizeof piece);
	cr_assert_not(t.failed);
	pass_add(&t, "x");
	cr_assert(t.failed);
	cr_assert_eq(t.length, PASS_TEXT_MAX);
	free(t.bytes);
}
