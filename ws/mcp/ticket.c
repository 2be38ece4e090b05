/* The signature covers the text before it, and the principal, which is not in the text. */
#include "ws/mcp/ticket.h"

#include "shell/id.h"
#include "ws/base64.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNED_SIZE (MCP_TICKET_SIGNED_MAX + LINK_ID_SIZE + 8)

_Static_assert(MCP_TICKET_SIZE <= MCP_TICKET_SIGNED_MAX, "mcp_ticket_mac() can sign it");

void mcp_ticket_mac(const char *text, size_t length, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], char mac[MCP_TICKET_MAC + 1])
{
	char whole[SIGNED_SIZE];
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned size = sizeof digest;
	int n = snprintf(
		whole, sizeof whole, "%.*s|%d|%s", (int)length, text, (int)p->role, p->link);
	HMAC(EVP_sha256(), key, AUTH_KEY_SIZE, (const unsigned char *)whole, (size_t)n, digest,
		&size);
	for (unsigned i = 0; i < MCP_TICKET_MAC / 2; i++)
		snprintf(mac + 2 * (size_t)i, 3, "%02x", digest[i]);
}

int mcp_ticket_create_id(struct mcp_ticket *t)
{
	return id_hex(t->id, 2 * MCP_SESSION_RANDOM + 1);
}

void mcp_ticket_sign(const struct mcp_ticket *t, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], char text[MCP_TICKET_SIZE])
{
	char name[BASE64_SIZE(MCP_CLIENT_SIZE)], mac[MCP_TICKET_MAC + 1];
	base64_encode(t->client, strlen(t->client), name);
	int n = snprintf(
		text, MCP_TICKET_SIZE, "%s.%d.%s", t->id, t->batches | t->elicits << 1, name);
	mcp_ticket_mac(text, (size_t)n, p, key, mac);
	snprintf(text + n, MCP_TICKET_SIZE - (size_t)n, ".%s", mac);
}

/* Decode the client's name. */
static bool decode_client(const char *text, struct mcp_ticket *t)
{
	size_t length = 0;
	unsigned char *name = base64_decode(text, &length);
	bool fits = name && length < sizeof t->client && !memchr(name, '\0', length);
	if (fits)
		memcpy(t->client, name, length);
	free(name);
	return fits;
}

bool mcp_ticket_read(const char *text, const struct principal *p,
	const unsigned char key[AUTH_KEY_SIZE], struct mcp_ticket *ret_ticket)
{
	struct mcp_ticket t = {.id = ""};
	char copy[MCP_TICKET_SIZE], mac[MCP_TICKET_MAC + 1];
	size_t length = strnlen(text, sizeof copy);
	const char *end = length < sizeof copy ? strrchr(text, '.') : NULL;
	if (!end || strlen(end + 1) != MCP_TICKET_MAC)
		return false;
	mcp_ticket_mac(text, (size_t)(end - text), p, key, mac);
	if (CRYPTO_memcmp(mac, end + 1, MCP_TICKET_MAC) != 0)
		return false;
	snprintf(copy, sizeof copy, "%.*s", (int)(end - text), text);
	char *rest = copy;
	const char *id = strsep(&rest, "."), *flags = strsep(&rest, ".");
	if (!rest || strlen(id) >= sizeof t.id || !decode_client(rest, &t))
		return false;
	snprintf(t.id, sizeof t.id, "%s", id);
	int bits = flags[0] - '0'; /* signed, so it is one digit */
	t.batches = bits & 1;
	t.elicits = bits & 2;
	*ret_ticket = t;
	return true;
}
