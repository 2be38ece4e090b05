#include "ws/mcp/ticket.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(mcp_ticket, .timeout = 60);

static const unsigned char key[AUTH_KEY_SIZE] = "one", other_key[AUTH_KEY_SIZE] = "two";
static const struct principal owner = {.role = ROLE_OWNER};
static const struct principal driver = {.role = ROLE_DRIVER, .link = "l1"};

/* A name of the largest size. */
static const char longest[] = "a.b|c \xc3\xbc ~ 0123456789012345678901234567890123456789012345678901";

static struct mcp_ticket sign(const char *client, char text[MCP_TICKET_SIZE])
{
	struct mcp_ticket t = {.batches = true};
	cr_assert_eq(mcp_ticket_create_id(&t), 0);
	snprintf(t.client, sizeof t.client, "%s", client);
	mcp_ticket_sign(&t, &driver, key, text);
	return t;
}

Test(mcp_ticket, has_the_values_that_it_was_made_of)
{
	static const char *const names[] = {"", "x", longest};
	char text[MCP_TICKET_SIZE];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct mcp_ticket want = sign(names[i], text), got;
		cr_assert(mcp_ticket_read(text, &driver, key, &got));
		cr_assert_str_eq(got.id, want.id);
		cr_assert_str_eq(got.client, want.client);
		cr_assert(got.batches);
		for (const char *p = text; *p; p++)
			cr_assert(*p > ' ' && *p < 0x7f, "the text must fit in a header");
	}
	cr_assert_lt(sizeof longest, MCP_CLIENT_SIZE + 1);
}

Test(mcp_ticket, has_the_clients_capabilities)
{
	for (int i = 0; i < 4; i++) {
		char text[MCP_TICKET_SIZE];
		struct mcp_ticket want = {.batches = i & 1, .elicits = i & 2}, got;
		cr_assert_eq(mcp_ticket_create_id(&want), 0);
		mcp_ticket_sign(&want, &owner, key, text);
		cr_assert(mcp_ticket_read(text, &owner, key, &got));
		cr_assert_eq(got.batches, want.batches);
		cr_assert_eq(got.elicits, want.elicits);
	}
}

Test(mcp_ticket, is_valid_for_its_owner_only)
{
	struct mcp_ticket got = {.id = "untouched"};
	struct principal other = {.role = ROLE_DRIVER, .link = "l2"},
			 viewer = {.role = ROLE_VIEWER, .link = "l1"};
	char text[MCP_TICKET_SIZE];
	sign("x", text);
	cr_assert(!mcp_ticket_read(text, &owner, key, &got));
	cr_assert(!mcp_ticket_read(text, &other, key, &got));
	cr_assert(!mcp_ticket_read(text, &viewer, key, &got));
	cr_assert(!mcp_ticket_read(text, &driver, other_key, &got));
	cr_assert_str_eq(got.id, "untouched");
}

Test(mcp_ticket, is_invalid_when_changed_or_cut)
{
	struct mcp_ticket got;
	char text[MCP_TICKET_SIZE], changed[MCP_TICKET_SIZE + 8];
	sign("x", text);
	for (size_t i = 0; text[i]; i++) {
		snprintf(changed, sizeof changed, "%s", text);
		changed[i] = changed[i] == '1' ? '0' : '1';
		cr_assert(!mcp_ticket_read(changed, &driver, key, &got), "%zu", i);
		changed[i] = '\0';
		cr_assert(!mcp_ticket_read(changed, &driver, key, &got), "%zu", i);
	}
	snprintf(changed, sizeof changed, "%s0", text);
	cr_assert(!mcp_ticket_read(changed, &driver, key, &got));
	char endless[2000];
	memset(endless, '.', sizeof endless - 1);
	endless[sizeof endless - 1] = '\0';
	cr_assert(!mcp_ticket_read(endless, &driver, key, &got));
}
