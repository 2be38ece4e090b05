/*
 * Fields are separated by slashes, which ids do not contain. Tickets contain dots instead, so that
 * the two cannot be confused.
 */
#include "ws/mcp/resume.h"

#include <inttypes.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "call:"

_Static_assert(MCP_RESUME_SIZE <= MCP_TICKET_SIGNED_MAX, "mcp_ticket_mac() can sign it");

void mcp_resume_sign(const struct mcp_resume *resume, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], char text[MCP_RESUME_SIZE])
{
	char mac[MCP_TICKET_MAC + 1];
	int n = snprintf(text, MCP_RESUME_SIZE,
		PREFIX "%s/%s/%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64,
		resume->session, resume->exec, resume->epoch, resume->prompt.offset,
		resume->prompt.answers, (uint64_t)resume->prompt.group, resume->after);
	mcp_ticket_mac(text, (size_t)n, p, key, mac);
	snprintf(text + n, MCP_RESUME_SIZE - (size_t)n, ".%s", mac);
}

/* The signature guarantees that the fields are as mcp_resume_sign() wrote them. */
static bool parse_field(char **rest, char *field, size_t size)
{
	const char *text = strsep(rest, "/");
	if (!text || strlen(text) >= size)
		return false;
	memcpy(field, text, strlen(text) + 1);
	return true;
}

static bool parse_number(char **rest, uint64_t *ret_number)
{
	char *end;
	const char *text = strsep(rest, "/");
	if (!text || *text < '0' || *text > '9')
		return false;
	*ret_number = strtoull(text, &end, 10);
	return *end == '\0';
}

bool mcp_resume_read(const char *text, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], struct mcp_resume *ret_resume)
{
	struct mcp_resume r = {.exec = ""};
	char copy[MCP_RESUME_SIZE], mac[MCP_TICKET_MAC + 1];
	uint64_t group;
	size_t length = strnlen(text, sizeof copy), prefix = strlen(PREFIX);
	const char *end = length < sizeof copy ? strrchr(text, '.') : NULL;
	if (!end || strlen(end + 1) != MCP_TICKET_MAC || strncmp(text, PREFIX, prefix) != 0)
		return false;
	mcp_ticket_mac(text, (size_t)(end - text), p, key, mac);
	if (CRYPTO_memcmp(mac, end + 1, MCP_TICKET_MAC) != 0)
		return false;
	snprintf(copy, sizeof copy, "%.*s", (int)(end - text - (ptrdiff_t)prefix), text + prefix);
	char *rest = copy;
	if (!parse_field(&rest, r.session, sizeof r.session) ||
		!parse_field(&rest, r.exec, sizeof r.exec) || !parse_number(&rest, &r.epoch) ||
		!parse_number(&rest, &r.prompt.offset) || !parse_number(&rest, &r.prompt.answers) ||
		!parse_number(&rest, &group) || !parse_number(&rest, &r.after))
		return false;
	r.prompt.group = (pid_t)group;
	*ret_resume = r;
	return true;
}
