#include "tests/lib/folder.h"
#include "shell/clock.h"
#include "ws/auth/caller.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NOW_MS UINT64_C(1800000000000)

/* Nodes a and b of one fleet, and one of another fleet with the name b. */
static struct folder folders[3];
static struct auth a, b, stranger;
static char header[1200];

static void open_node(struct auth *auth, struct folder *folder, const char *node, const char *secret)
{
	folder_make(folder);
	cr_assert_eq(auth_open(auth,
			     &(struct auth_options){
				     .runtime_dir = folder->path, .node = node, .secret = secret}),
		0);
}

static void set_up(void)
{
	open_node(&a, &folders[0], "a", SECRET);
	open_node(&b, &folders[1], "b", SECRET);
	open_node(&stranger, &folders[2], "b", "another" SECRET);
}

static void tear_down(void)
{
	auth_close(&a);
	auth_close(&b);
	auth_close(&stranger);
	for (size_t i = 0; i < 3; i++)
		folder_remove(&folders[i]);
}

TestSuite(caller, .init = set_up, .fini = tear_down);

static const char *sign(const struct caller *c, const char *node)
{
	char *token = caller_sign(&a, c, node, NOW_MS);
	cr_assert_not_null(token);
	snprintf(header, sizeof header, "Bearer %s", token);
	free(token);
	return header;
}

Test(caller, arrives_as_it_was_sent)
{
	const struct caller sent[] = {
		{.kind = CALLER_ANYONE, .peer = "unix"},
		{.kind = CALLER_OWNER, .secure = true, .client = UINT64_MAX, .peer = "2001:db8::1"},
		{.kind = CALLER_LINK, .id = "0123456789abcdef0123456789abcdef", .peer = "127.0.0.1"},
		{.kind = CALLER_LOGIN, .id = "0123456789abcdef0123456789abcdef", .client = 7},
	};
	struct caller got;
	for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
		cr_assert(caller_verify(&b, sign(&sent[i], "b"), NOW_MS, &got), "%zu", i);
		cr_expect_eq(got.kind, sent[i].kind);
		cr_expect_str_eq(got.id, sent[i].id);
		cr_expect_str_eq(got.peer, sent[i].peer);
		cr_expect(got.secure == sent[i].secure && got.client == sent[i].client);
	}
}

Test(caller, is_for_one_node_and_a_short_time)
{
	const struct caller owner = {.kind = CALLER_OWNER, .peer = "x"};
	struct caller got;
	sign(&owner, "b");
	cr_expect(caller_verify(&b, header, NOW_MS + (CALLER_LIFE_S - 1) * UINT64_C(1000), &got));
	cr_expect_not(caller_verify(&b, header, NOW_MS + CALLER_LIFE_S * UINT64_C(1000), &got));
	cr_expect_not(caller_verify(&a, header, NOW_MS, &got), "another node");
	cr_expect_not(caller_verify(&stranger, header, NOW_MS, &got), "another fleet");
	cr_expect_not(caller_verify(&b, header + 7, NOW_MS, &got), "no scheme");
	for (size_t i = sizeof "Bearer"; i < strlen(header); i += 7) {
		char kept = header[i];
		header[i] = kept == 'A' ? 'B' : 'A';
		cr_expect_not(caller_verify(&b, header, NOW_MS, &got), "changed at %zu", i);
		header[i] = kept;
	}
}

Test(caller, has_the_rights_of_its_kind)
{
	struct principal p;
	struct caller c = {.kind = CALLER_OWNER};
	cr_expect_eq(caller_authenticate(&b, &c, false, &p), AUTH_OK);
	cr_expect(p.role == ROLE_OWNER && p.forwarded);
	c.kind = CALLER_ANYONE;
	cr_expect_eq(caller_authenticate(&b, &c, false, &p), AUTH_MISSING);
	c = (struct caller){.kind = CALLER_LINK, .id = "0123456789abcdef0123456789abcdef"};
	cr_expect_eq(caller_authenticate(&b, &c, false, &p), AUTH_WRONG, "no such link");
	c.kind = CALLER_LOGIN;
	cr_expect_eq(caller_authenticate(&b, &c, false, &p), AUTH_WRONG, "no such login");
}

/* A link of b, as a sees it. */
Test(caller, link_of_another_node)
{
	struct link_entry e = {
		.session = "s", .role = ROLE_DRIVER, .expires_ms = clock_wall_ms() + 60000};
	char *token, authorization[600];
	struct principal p;
	struct caller c;
	cr_assert_eq(links_issue(&b.links, &e, clock_wall_ms(), &token), 0);
	snprintf(authorization, sizeof authorization, "Bearer %s", token);
	struct credentials credentials = {.authorization = authorization, .peer = "x"};
	cr_assert_eq(auth_check(&a, &credentials, &p), AUTH_OK);
	cr_expect_str_eq(p.node, "b");
	cr_expect_not(auth_may_see(&p, "s", 0), "a knows nothing of its rights");
	cr_expect(p.role == ROLE_VIEWER);
	char node[AUTH_NODE_SIZE];
	cr_expect(auth_is_elsewhere(&a, token, node) && strcmp(node, "b") == 0);
	cr_expect_not(auth_is_elsewhere(&b, token, node));
	cr_expect_not(auth_is_elsewhere(&stranger, token, node));

	caller_of(&p, &c);
	cr_expect_eq(c.kind, CALLER_LINK);
	cr_assert_eq(caller_authenticate(&b, &c, false, &p), AUTH_OK);
	cr_expect(p.role == ROLE_DRIVER && strcmp(p.session, "s") == 0 && !p.node[0]);
	links_revoke(&b.links, e.id);
	cr_expect_eq(caller_authenticate(&b, &c, false, &p), AUTH_WRONG);

	/* It cannot be logged in with here. */
	char cookie[AUTH_COOKIE_SIZE];
	struct auth_request request = {.token = token, .peer = "x", .agent = ""};
	cr_expect_eq(auth_login(&a, &request, &p, cookie), AUTH_WRONG);
	free(token);
}

Test(caller, nodes_have_one_token_and_know_each_others_logins)
{
	char cookie[AUTH_COOKIE_SIZE];
	struct principal p;
	cr_assert_str_eq(a.token, b.token);
	cr_assert_str_neq(a.token, stranger.token);
	struct auth_request request = {.token = a.token, .peer = "x", .agent = ""};
	cr_assert_eq(auth_login(&a, &request, &p, cookie), AUTH_OK);
	cookie[strcspn(cookie, ";")] = '\0';
	struct credentials credentials = {.cookie = cookie, .peer = "x"};
	cr_assert_eq(auth_check(&a, &credentials, &p), AUTH_OK);
	cr_expect_not(p.login_elsewhere);
	cr_assert_eq(auth_check(&b, &credentials, &p), AUTH_OK);
	cr_expect(p.login_elsewhere && p.role == ROLE_OWNER && p.by_cookie);
	cr_expect(auth_is_current(&b, &p, clock_wall_ms()));

	char deleted[AUTH_COOKIE_SIZE];
	uint64_t revoked = auth_revoked(&b);
	cr_assert(auth_logout(&b, &p, false, deleted));
	cr_expect_gt(auth_revoked(&b), revoked);
	cr_expect_not(auth_is_current(&b, &p, clock_wall_ms()));
	cr_expect_eq(auth_check(&b, &credentials, &p), AUTH_MISSING);
	const struct ended_login *ended = ended_logins_unpublished(&b.ended);
	cr_assert_not_null(ended);
	auth_learn_ended(&a, ended->id, ended->expires_ms);
	cr_expect_eq(auth_check(&a, &credentials, &p), AUTH_MISSING);
	cr_expect_null(ended_logins_unpublished(&a.ended));
}
