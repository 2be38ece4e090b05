#include "ws/mcp/resume.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(mcp_resume, .timeout = 60);

static const unsigned char key[AUTH_KEY_SIZE] = "one", other_key[AUTH_KEY_SIZE] = "two";
static const struct principal driver = {.role = ROLE_DRIVER, .link = "l1"};
static const struct mcp_resume largest = {.epoch = UINT64_MAX,
	.prompt = {.offset = UINT64_MAX, .answers = UINT64_MAX, .group = INT32_MAX},
	.after = UINT64_MAX};

static struct mcp_resume named(char letter)
{
	struct mcp_resume r = largest;
	memset(r.session, letter, sizeof r.session - 1);
	memset(r.exec, letter, sizeof r.exec - 1);
	return r;
}

Test(mcp_resume, has_the_values_that_it_was_made_of)
{
	char text[MCP_RESUME_SIZE];
	struct mcp_resume want = named('x'), got;
	mcp_resume_sign(&want, &driver, key, text);
	cr_assert(mcp_resume_read(text, &driver, key, &got));
	cr_expect_str_eq(got.session, want.session);
	cr_expect_str_eq(got.exec, want.exec);
	cr_expect_eq(got.epoch, want.epoch);
	cr_expect_eq(got.prompt.offset, want.prompt.offset);
	cr_expect_eq(got.prompt.answers, want.prompt.answers);
	cr_expect_eq(got.prompt.group, want.prompt.group);
	cr_expect_eq(got.after, want.after);
	cr_expect_not(got.accepted);
}

Test(mcp_resume, any_valid_session_id)
{
	static const char *const ids[] = {"a:b", "a:1:2:3:4:5:6", "x@y", "a.b-c_d", ":"};
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		char text[MCP_RESUME_SIZE];
		struct mcp_resume want = {.epoch = 1, .after = 2}, got;
		snprintf(want.session, sizeof want.session, "%s", ids[i]);
		snprintf(want.exec, sizeof want.exec, "exec_1");
		mcp_resume_sign(&want, &driver, key, text);
		cr_assert(mcp_resume_read(text, &driver, key, &got), "%s", ids[i]);
		cr_expect_str_eq(got.session, ids[i]);
		cr_expect_str_eq(got.exec, "exec_1");
		cr_expect_eq(got.after, 2);
	}
}

Test(mcp_resume, is_valid_for_its_owner_only)
{
	char text[MCP_RESUME_SIZE], changed[MCP_RESUME_SIZE + 1], ticket[MCP_TICKET_SIZE];
	struct mcp_resume want = named('x'), got = {.session = "untouched"};
	const struct principal other = {.role = ROLE_DRIVER, .link = "l2"},
			       owner = {.role = ROLE_OWNER, .link = "l1"};
	struct mcp_ticket t = {.id = ""};
	mcp_resume_sign(&want, &driver, key, text);
	cr_expect_not(mcp_resume_read(text, &other, key, &got));
	cr_expect_not(mcp_resume_read(text, &owner, key, &got));
	cr_expect_not(mcp_resume_read(text, &driver, other_key, &got));
	for (size_t i = 0; text[i]; i++) {
		snprintf(changed, sizeof changed, "%s", text);
		changed[i] = changed[i] == '1' ? '2' : '1';
		cr_expect_not(mcp_resume_read(changed, &driver, key, &got), "%s", changed);
		snprintf(changed, sizeof changed, "%.*s", (int)i, text);
		cr_expect_not(mcp_resume_read(changed, &driver, key, &got), "%s", changed);
	}
	snprintf(changed, sizeof changed, "%s0", text);
	cr_expect_not(mcp_resume_read(changed, &driver, key, &got));
	/* It is no session id, and a session id is no cursor. */
	cr_expect_not(mcp_ticket_read(text, &driver, key, &t));
	cr_assert_eq(mcp_ticket_create_id(&t), 0);
	mcp_ticket_sign(&t, &driver, key, ticket);
	cr_expect_not(mcp_resume_read(ticket, &driver, key, &got));
	cr_expect_str_eq(got.session, "untouched");
}
