/* Login and share links. */
#include "tests/lib/memory_api.h"

#include <string.h>
#include <sys/stat.h>

#define SUITE .init = memory_api_open_session, .fini = memory_api_close, .timeout = 60
TestSuite(api_login, SUITE);
TestSuite(api_links, SUITE);

#define LOGIN "POST /api/auth/login"
#define LINKS "POST /api/session/s/links"

static struct call *log_in(const char *token)
{
	char body[512];
	snprintf(body, sizeof body, "{\"token\":\"%s\"}", token);
	struct call *c = memory_api_ask(&(struct ask){.line = LOGIN, .body = body, .by = BY_NOBODY});
	call_await(c);
	return c;
}

Test(api_login, token_is_exchanged_for_a_cookie)
{
	struct call *c = log_in(memory_api.auth.token);
	call_returns(c, "{'role':'owner','sessionId':null,'authRequired':true}");
	const char *cookie = call_header(c, "Set-Cookie");
	cr_assert_not_null(cookie);
	cr_expect_not_null(strstr(cookie, "HttpOnly"));
	cr_expect_not_null(strstr(cookie, "SameSite=Strict"));
	cr_expect_null(strstr(cookie, memory_api.auth.token), "the token is not in it");
}

Test(api_login, invalid_tokens)
{
	static const struct refused cases[] = {{LOGIN, NULL, INVALID, "token", BY_NOBODY},
		{LOGIN, "{'token':1}", INVALID, "token", BY_NOBODY},
		{LOGIN, "{'token':'a\\u0000'}", INVALID, "token", BY_NOBODY},
		{LOGIN, "nothing", INVALID, "body", BY_NOBODY},
		{LOGIN, "{'token':'wrong'}", 401, "UNAUTHENTICATED", NULL, BY_NOBODY},
		{"GET /api/auth/whoami", NULL, 401, "UNAUTHENTICATED", NULL, BY_NOBODY}};
	EXPECT_REFUSED(cases);
	cr_expect_eq(memory_api.metrics.auth_failures, 2);
}

Test(api_login, too_many_attempts_are_limited)
{
	struct call *c = log_in("wrong");
	for (unsigned i = 0; i < 1000 && call_status(c) == 401; i++) {
		call_end(c);
		c = log_in("wrong");
	}
	call_expect(c, 429, "TOO_MANY_ATTEMPTS");
	cr_expect_str_eq(call_header(c, "Retry-After"), "60");
	c = log_in(memory_api.auth.token);
	cr_expect_eq(call_status(c), 200, "the right token is accepted");
}

Test(api_login, logout)
{
	struct call *c = memory_api_call("POST /api/auth/logout", NULL);
	cr_expect_eq(call_status(c), 200);
	cr_expect_not_null(strstr(call_header(c, "Set-Cookie"), "Max-Age=0"));
}

Test(api_login, whoami)
{
	struct call *c = memory_api_ask(
		&(struct ask){.line = "GET /api/auth/whoami", .by = BY_DRIVER, .only = "s"});
	call_has(c, "{'role':'driver','sessionId':'s','link':'link'}");
}

Test(api_links, are_issued_listed_and_revoked)
{
	char line[128];
	memory_api_start("other");
	struct call *c = memory_api_call(
		LINKS, "{'role':'driver','name':'Ada','expiresInMs':60000}");
	call_returns(c, "{'link':{'role':'driver','name':'Ada'}}");
	cr_expect_eq(strncmp(call_text(c, "path"), "/#link=", 7), 0);
	cr_expect_eq(strncmp(call_text(c, "url"), "http://127.0.0.1:7070/#link=", 28), 0);
	struct call *in = log_in(call_text(c, "token"));
	call_returns(in, "{'sessionId':'s','role':'driver'}");
	struct call *list = memory_api_call("GET /api/session/s/links", NULL);
	cr_expect_eq(json_array_size(call_get(list, "links")), 1);
	cr_expect_str_eq(call_text(list, "links.0.id"), call_text(c, "link.id"));
	cr_expect_null(call_get(list, "links.0.token"));
	list = memory_api_call("GET /api/session/other/links", NULL);
	cr_expect_eq(json_array_size(call_get(list, "links")), 0);
	snprintf(line, sizeof line, "DELETE /api/session/other/links/%s", call_text(c, "link.id"));
	cr_expect_eq(memory_api_status(line, NULL), 404, "the link belongs to another session");
	snprintf(line, sizeof line, "DELETE /api/session/s/links/%s", call_text(c, "link.id"));
	cr_expect_eq(memory_api_status(line, NULL), 200);
	cr_expect_eq(memory_api_status(line, NULL), 404);
	in = log_in(call_text(c, "token"));
	cr_expect_eq(call_status(in), 401);
}

Test(api_links, unstored_link_is_not_returned)
{
	cr_assert_eq(mkdirat(memory_api.folder.fd, "links.json.new", 0700), 0);
	struct call *c = memory_api_call(LINKS, "{'role':'viewer'}");
	cr_expect_eq(call_status(c), 500, "%s", call_body(c));
	cr_expect_null(call_get(c, "token"));
	cr_expect_eq(memory_api.auth.links.count, 0);
}

Test(api_links, invalid_terms)
{
	static const struct refused cases[] = {{LINKS, NULL, INVALID, "role"},
		{"DELETE /api/session/s/links/no", NULL, 404, "LINK_NOT_FOUND"},
		{"DELETE /api/session/s/links/%2e%2e", NULL, 404, "LINK_NOT_FOUND"},
		{"DELETE /api/session/s/links/" LONG_128 "x", NULL, 404, "UNKNOWN_ERROR"}};
	EXPECT_INVALID(
		LINKS, "{", "'role':'owner'", "'role':''", "'role':1", "'role':'viewer\\u0000'");
	EXPECT_INVALID(LINKS, "{'role':'viewer',", "'name':1", "'name':'a\\nb'",
		"'name':'" LONG_128 "x'", "'expiresInMs':999", "'expiresInMs':2592000001",
		"'expiresInMs':-1", "'expiresInMs':'1d'");
	EXPECT_REFUSED(cases);
	cr_expect_eq(memory_api.auth.links.count, 0);
	cr_expect_eq(
		memory_api_status(LINKS, "{'role':'viewer','name':'','expiresInMs':1000}"), 200);
	cr_expect_eq(memory_api_status(LINKS,
			     "{'role':'viewer','name':'" LONG_128 "','expiresInMs':2592000000}"),
		200);
}

Test(api_links, last_a_day_by_default)
{
	cr_assert_eq(memory_api_status(LINKS, "{'role':'viewer'}"), 200);
	/* The clock is read for expires_ms first, and a moment later for created_ms. */
	const struct link_entry *e = &memory_api.auth.links.entries[0];
	uint64_t lasts_ms = e->expires_ms - e->created_ms;
	cr_expect(lasts_ms > 86340000 && lasts_ms <= 86400000);
}

Test(api_links, end_with_their_session)
{
	struct call *c = memory_api_call(LINKS, "{'role':'viewer'}");
	cr_expect_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'s'}"), 200);
	memory_api_start("s");
	cr_expect_eq(memory_api.auth.links.count, 0);
	struct call *in = log_in(call_text(c, "token"));
	cr_expect_eq(call_status(in), 401, "a later session of the same id");
}

Test(api_links, number_is_limited)
{
	/* Storing a thousand links would take too long. */
	struct links *l = &memory_api.auth.links;
	for (; l->count < LINKS_MAX; l->count++) {
		l->entries[l->count] = (struct link_entry){.session = "s", .expires_ms = INT64_MAX};
		snprintf(l->entries[l->count].id, LINK_ID_SIZE, "%032zx", l->count);
	}
	struct call *c = memory_api_call(LINKS, "{'role':'viewer'}");
	call_expect(c, 429, "LIMIT_REACHED");
}
