/*
 * Ids of MCP sessions. Input: a line with a client's name, then a forged id. Our ids are read as they were signed; all
 * others are refused, also after one of ours.
 */
#include "tests/fuzz/fuzz.h"
#include "ws/mcp/ticket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char key[AUTH_KEY_SIZE] = "key";
	static const struct principal driver = {.role = ROLE_DRIVER, .link = "l1"};
	struct fuzz_input in = {data, size};
	struct mcp_ticket ticket = {.id = "0123"}, got;
	char text[MCP_TICKET_SIZE], *both = NULL;
	char *name = fuzz_text(&in, '\n'), *forged = fuzz_text(&in, '\0');
	snprintf(ticket.client, sizeof ticket.client, "%s", name);
	mcp_ticket_sign(&ticket, &driver, key, text);
	FUZZ_CHECK(mcp_ticket_read(text, &driver, key, &got));
	FUZZ_CHECK(strcmp(got.client, ticket.client) == 0 && strcmp(got.id, ticket.id) == 0);
	FUZZ_CHECK(strcmp(forged, text) == 0 || !mcp_ticket_read(forged, &driver, key, &got));
	FUZZ_CHECK(asprintf(&both, "%s%s", text, forged) >= 0);
	FUZZ_CHECK(!*forged || !mcp_ticket_read(both, &driver, key, &got));
	free(both);
	free(forged);
	free(name);
	return 0;
}
