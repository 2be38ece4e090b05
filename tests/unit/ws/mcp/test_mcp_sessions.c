#include "ws/mcp/cursors.h"
#include "ws/mcp/sessions.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct mcp_sessions all;

static void close_all(void)
{
	mcp_sessions_close(&all);
}

TestSuite(mcp_sessions, .fini = close_all, .timeout = 60);

static const struct principal owner = {.role = ROLE_OWNER};

Test(mcp_sessions, belong_to_their_creator)
{
	struct principal guest = {.role = ROLE_DRIVER, .link = "l1"},
			 other = {.role = ROLE_DRIVER, .link = "l2"};
	const struct mcp_session *s = mcp_sessions_create(&all, &guest, NULL, NULL, 1);
	cr_assert_eq(strlen(s->id), 2 * MCP_SESSION_RANDOM);
	cr_assert_eq(mcp_sessions_find(&all, s->id, &guest, 2), s);
	cr_assert_null(mcp_sessions_find(&all, s->id, &other, 2));
	cr_assert_null(mcp_sessions_find(&all, s->id, &owner, 2));
	cr_assert_null(mcp_sessions_find(&all, "nothing", &guest, 2));
}

Test(mcp_sessions, may_have_their_own_name)
{
	struct principal guest = {.role = ROLE_DRIVER, .link = "l1"};
	const struct mcp_session *s = mcp_sessions_create(&all, &guest, "stdio:x", NULL, 1);
	cr_assert_str_eq(s->id, "stdio:x");
	cr_assert_eq(mcp_sessions_create(&all, &guest, "stdio:x", NULL, 2), s);
	cr_assert_null(mcp_sessions_create(&all, &owner, "stdio:x", NULL, 2));
	cr_assert_eq(mcp_sessions_find(&all, "stdio:x", &guest, 2), s);
	cr_assert_eq(HASH_COUNT(all.table), 1);
}

Test(mcp_sessions, expire_without_use)
{
	char used[MCP_SESSION_ID_SIZE], unused[MCP_SESSION_ID_SIZE];
	snprintf(used, sizeof used, "%s", mcp_sessions_create(&all, &owner, NULL, NULL, 0)->id);
	snprintf(unused, sizeof unused, "%s", mcp_sessions_create(&all, &owner, NULL, NULL, 0)->id);
	cr_assert_not_null(mcp_sessions_find(&all, used, &owner, MCP_SESSION_IDLE_MS));
	cr_assert_not_null(mcp_sessions_find(&all, used, &owner, MCP_SESSION_IDLE_MS + 1));
	cr_assert_null(mcp_sessions_find(&all, unused, &owner, MCP_SESSION_IDLE_MS + 1));
	cr_assert_not_null(mcp_sessions_create(&all, &owner, NULL, NULL, MCP_SESSION_IDLE_MS + 1));
	cr_assert_eq(HASH_COUNT(all.table), 2, "the expired session was removed");
}

Test(mcp_sessions, are_reused_with_the_same_name)
{
	const struct mcp_session *s = mcp_sessions_create(&all, &owner, "x", NULL, 0);
	cr_assert_null(mcp_sessions_find(&all, "x", &owner, MCP_SESSION_IDLE_MS + 1));
	cr_assert_eq(mcp_sessions_create(&all, &owner, "x", NULL, MCP_SESSION_IDLE_MS + 1), s);
	cr_assert_eq(mcp_sessions_find(&all, "x", &owner, MCP_SESSION_IDLE_MS + 2), s);
}

Test(mcp_sessions, ended_ones_are_remembered_up_to_a_limit)
{
	char id[16];
	cr_assert(!mcp_sessions_is_ended(&all, "0"));
	cr_assert(!mcp_sessions_is_ended(&all, ""));
	for (unsigned i = 0; i <= MCP_ENDED_MAX; i++) {
		snprintf(id, sizeof id, "%u", i);
		mcp_sessions_mark_ended(&all, id);
		cr_assert(mcp_sessions_is_ended(&all, id));
	}
	cr_assert(!mcp_sessions_is_ended(&all, "0"), "the oldest is forgotten");
	cr_assert(mcp_sessions_is_ended(&all, "1"));
	mcp_sessions_close(&all);
	cr_assert(!mcp_sessions_is_ended(&all, "1"));
}

Test(mcp_sessions, least_recently_used_is_removed)
{
	char first[MCP_SESSION_ID_SIZE], second[MCP_SESSION_ID_SIZE];
	snprintf(first, sizeof first, "%s", mcp_sessions_create(&all, &owner, NULL, NULL, 1)->id);
	snprintf(second, sizeof second, "%s", mcp_sessions_create(&all, &owner, NULL, NULL, 2)->id);
	cr_assert_not_null(mcp_sessions_find(&all, first, &owner, 3));
	for (unsigned i = 2; i <= MCP_SESSIONS_MAX; i++)
		cr_assert_not_null(mcp_sessions_create(&all, &owner, NULL, NULL, 4));
	cr_assert_eq(HASH_COUNT(all.table), MCP_SESSIONS_MAX);
	cr_assert_not_null(mcp_sessions_find(&all, first, &owner, 5));
	cr_assert_null(mcp_sessions_find(&all, second, &owner, 5));
}

Test(mcp_cursors, cursors_are_numbered_and_limited)
{
	struct mcp_cursors cursors = {0};
	cr_assert_eq(mcp_cursors_get(&cursors, 5), 0);
	mcp_cursors_set(&cursors, 5, 100);
	mcp_cursors_set(&cursors, 5, 200);
	cr_assert_eq(mcp_cursors_get(&cursors, 5), 200);
	mcp_cursors_forget(&cursors, 5);
	mcp_cursors_forget(&cursors, 5);
	cr_assert_eq(mcp_cursors_get(&cursors, 5), 0);
	for (uint64_t i = 0; i <= MCP_CURSORS_MAX; i++)
		mcp_cursors_set(&cursors, i, i + 1);
	cr_assert_eq(mcp_cursors_get(&cursors, 0), 0, "the oldest was removed");
	cr_assert_eq(mcp_cursors_get(&cursors, 1), 2);
	cr_assert_eq(mcp_cursors_get(&cursors, MCP_CURSORS_MAX), MCP_CURSORS_MAX + 1);
	mcp_cursors_close(&cursors);
}
