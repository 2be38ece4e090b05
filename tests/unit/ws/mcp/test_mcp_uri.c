#include "ws/mcp/uri.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(mcp_uri, .timeout = 60);

Test(mcp_uri, is_parsed_as_it_was_written)
{
	static const char *const all[] = {
		"ringside://session/a/screen", "ringside://session/A_b-9/block/b123"};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct mcp_uri uri;
		char text[MCP_URI_SIZE];
		cr_assert(mcp_uri_read(all[i], &uri));
		mcp_uri_write(&uri, text);
		cr_expect_str_eq(text, all[i]);
	}
}

Test(mcp_uri, other_addresses_are_refused)
{
	static const char *const none[] = {"", "ringside://", "ringside://session/",
		"ringside://session//screen", "ringside://session/a", "ringside://session/a/",
		"ringside://session/a/screen/", "ringside://session/a/screen?x",
		"ringside://session/a/block/", "ringside://session/a/block/b/c",
		"ringside://session/../screen", "ringside://session/%61/screen",
		"Ringside://session/a/screen", "file:///etc/passwd"};
	struct mcp_uri uri = {.session = "untouched"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		cr_expect(!mcp_uri_read(none[i], &uri), "%s", none[i]);
	cr_expect_str_eq(uri.session, "untouched");
}

Test(mcp_uri, longest_id_fits)
{
	char id[NAME_ID_MAX + 2], text[2 * MCP_URI_SIZE];
	struct mcp_uri uri;
	for (size_t length = NAME_ID_MAX; length <= NAME_ID_MAX + 1; length++) {
		memset(id, 'x', length);
		id[length] = '\0';
		snprintf(text, sizeof text, "ringside://session/%s/block/%s", id, id);
		cr_expect_eq(mcp_uri_read(text, &uri), length == NAME_ID_MAX);
	}
	char written[MCP_URI_SIZE];
	mcp_uri_write(&uri, written);
	cr_expect_lt(strlen(written), MCP_URI_SIZE);
}
