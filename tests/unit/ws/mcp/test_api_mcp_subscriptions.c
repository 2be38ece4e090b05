/* Pace of notifications: the test controls the loop, which is their clock. */
#include "shell/own_error.h"
#include "tests/lib/memory_api.h"
#include "ws/mcp/mcp.h"

static struct mcp mcp;
static uv_loop_t own_clock;
static const struct principal owner = {.role = ROLE_OWNER};
static const struct mcp_uri screen = {.session = "s"};

static void open_all(void)
{
	memory_api_open();
	cr_assert_eq(uv_loop_init(&own_clock), 0);
	mcp = (struct mcp){.dispatcher = &memory_api.dispatcher, .loop = &own_clock};
	uv_timer_init(&own_clock, &mcp.tick);
	memory_api_start("s");
	memory_api_start("other");
}

static void close_all(void)
{
	mcp_subscriptions_close(&mcp.subscriptions);
	uv_close((uv_handle_t *)&mcp.tick, NULL);
	uv_run(&own_clock, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&own_clock), 0);
	memory_api_close();
}

TestSuite(api_mcp_subscriptions, .init = open_all, .fini = close_all, .timeout = 60);

/* The next notification of this scope's client: "" if none. */
static const char *read_notice(const char *scope)
{
	static char text[MCP_URI_SIZE];
	json_t *news = mcp_subscriptions_next_change(&mcp, scope);
	const char *uri = json_string_value(json_object_get(json_object_get(news, "params"), "uri"));
	snprintf(text, sizeof text, "%s", uri ? uri : "");
	json_decref(news);
	return text;
}

/* Wait until ms have passed since `since`. */
static void pass(uint64_t since, uint64_t ms)
{
	while (uv_now(&own_clock) - since < ms) {
		uv_sleep(10);
		uv_update_time(&own_clock);
	}
}

Test(api_mcp_subscriptions, first_change_is_reported_at_once_and_later_ones_together)
{
	cr_assert_eq(mcp_subscribe(&mcp, "a", &owner, &screen), 0);
	cr_expect_str_eq(read_notice("a"), "", "nothing has changed");
	memory_api_print("s", "more");
	cr_expect_str_eq(read_notice("a"), "ringside://session/s/screen");
	uint64_t first = uv_now(&own_clock);
	for (int i = 0; i < 3; i++) {
		memory_api_print("s", "more");
		cr_expect_str_eq(read_notice("a"), "");
	}
	pass(first, MCP_UPDATED_MS);
	cr_expect_str_eq(read_notice("a"), "ringside://session/s/screen");
	cr_expect_str_eq(read_notice("a"), "");
	pass(uv_now(&own_clock), MCP_UPDATED_MS);
	cr_expect_str_eq(read_notice("a"), "", "no further change");
}

Test(api_mcp_subscriptions, clients_get_their_own_subscriptions_only)
{
	static const struct mcp_uri other = {.session = "other"};
	cr_assert_eq(mcp_subscribe(&mcp, "a", &owner, &screen), 0);
	cr_assert_eq(mcp_subscribe(&mcp, "a", &owner, &screen), 0,
		"a second subscription to the same URI changes nothing");
	cr_assert_eq(mcp_subscribe(&mcp, "b", &owner, &screen), 0);
	cr_assert_eq(mcp_subscribe(&mcp, "b", &owner, &other), 0);
	cr_expect_eq(mcp.subscriptions.count, 3);
	memory_api_print("s", "more");
	cr_expect_str_eq(read_notice("a"), "ringside://session/s/screen");
	cr_expect_str_eq(read_notice("b"), "ringside://session/s/screen");
	memory_api_print("other", "more");
	cr_expect_str_eq(read_notice("a"), "");
	cr_expect_str_eq(read_notice("b"), "ringside://session/other/screen",
		"one does not hold up another");
	mcp_unsubscribe_all(&mcp, "b");
	cr_expect_str_eq(read_notice("b"), "");
	mcp_unsubscribe(&mcp, "a", &other);
	mcp_unsubscribe(&mcp, "a", &screen);
	mcp_unsubscribe(&mcp, "a", &screen);
	cr_expect_eq(mcp.subscriptions.count, 0);
	cr_expect_null(mcp.subscriptions.table);
}

Test(api_mcp_subscriptions, size_and_end_are_changes)
{
	cr_assert_eq(mcp_subscribe(&mcp, "a", &owner, &screen), 0);
	cr_assert_eq(mcp_subscribe(&mcp, "b", &owner, &screen), 0);
	cr_assert_eq(memory_api_status("POST /api/session/s/resize", "{'cols':91,'rows':31}"), 200);
	memory_api_settle();
	cr_expect_str_eq(read_notice("a"), "ringside://session/s/screen");
	cr_expect_str_eq(read_notice("b"), "ringside://session/s/screen");
	pass(uv_now(&own_clock), MCP_UPDATED_MS);
	cr_expect_str_eq(read_notice("a"), "");
	cr_assert_eq(memory_api_status("POST /api/session/delete", "{'sessionId':'s'}"), 200);
	cr_expect_str_eq(read_notice("a"), "ringside://session/s/screen");
}

Test(api_mcp_subscriptions, number_of_a_client_is_limited)
{
	struct mcp_uri uri = {.session = "s"};
	for (unsigned i = 0; i < MCP_SUBSCRIPTIONS_MAX; i++) {
		snprintf(uri.block, sizeof uri.block, "b%u", i);
		cr_assert_eq(mcp_subscribe(&mcp, "a", &owner, &uri), 0);
	}
	cr_expect_eq(mcp_subscribe(&mcp, "a", &owner, &screen), -ERR_LIMIT);
	mcp_unsubscribe(&mcp, "a", &uri);
	cr_expect_eq(mcp_subscribe(&mcp, "a", &owner, &screen), 0);
}

Test(api_mcp_subscriptions, oldest_client_of_a_link_is_removed_beyond_the_limit)
{
	static const struct principal link = {.role = ROLE_VIEWER, .link = "link"};
	struct mcp_uri uri = {.session = "s"};
	char scope[16];
	cr_assert_eq(mcp_subscribe(&mcp, "owner", &owner, &screen), 0);
	for (unsigned i = 0; i <= MCP_SUBSCRIPTIONS_LINK; i++) {
		snprintf(scope, sizeof scope, "c%u", i / MCP_SUBSCRIPTIONS_MAX);
		snprintf(uri.block, sizeof uri.block, "b%u", i);
		cr_assert_eq(mcp_subscribe(&mcp, scope, &link, &uri), 0, "%u", i);
	}
	cr_expect_eq(
		mcp.subscriptions.count, 1 + MCP_SUBSCRIPTIONS_LINK - MCP_SUBSCRIPTIONS_MAX + 1);
	memory_api_print("s", "more");
	cr_expect_str_eq(read_notice("c0"), "");
	cr_expect_str_neq(read_notice("owner"), "", "other subscriptions stay");
}
