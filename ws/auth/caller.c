#include "ws/auth/caller.h"

#include "shell/clock.h"
#include "ws/auth/token.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PURPOSE "requests between nodes"

void caller_of(const struct principal *p, struct caller *ret_caller)
{
	*ret_caller = (struct caller){.kind = CALLER_OWNER};
	if (p->node[0]) {
		bool login = p->login[0];
		ret_caller->kind = login ? CALLER_LOGIN : CALLER_LINK;
		snprintf(ret_caller->id, sizeof ret_caller->id, "%s", login ? p->login : p->link);
	}
}

char *caller_sign(const struct auth *a, const struct caller *c, const char *node, uint64_t now_ms)
{
	unsigned char key[AUTH_KEY_SIZE];
	char text[TOKEN_ID_SIZE];
	auth_derive(a, PURPOSE, key);
	int n = snprintf(text, sizeof text, "%d/%s/%d/%016" PRIx64 "/%s/%s", (int)c->kind, c->id,
		(int)c->secure, c->client, node, c->peer);
	if (n < 0 || (size_t)n >= sizeof text)
		return NULL;
	return token_sign(text, now_ms / 1000 + CALLER_LIFE_S, key, sizeof key);
}

/* Copy the text up to a slash or the end. Returns what follows, or NULL if the text is too long. */
static const char *take(const char *text, char *ret, size_t size)
{
	size_t length = text ? strcspn(text, "/") : size;
	if (length >= size)
		return NULL;
	memcpy(ret, text, length);
	ret[length] = '\0';
	return text + length + (text[length] == '/');
}

/* Parse what caller_sign() has written. */
static bool parse(const char *text, const char *own, struct caller *c)
{
	char kind[4], secure[4], client[20], node[AUTH_NODE_SIZE], *end = client;
	text = take(text, kind, sizeof kind);
	text = take(text, c->id, sizeof c->id);
	text = take(text, secure, sizeof secure);
	text = take(text, client, sizeof client);
	text = take(text, node, sizeof node);
	text = take(text, c->peer, sizeof c->peer);
	if (text)
		c->client = strtoull(client, &end, 16);
	if (!text || *end || kind[0] < '0' || kind[0] >= '0' + CALLER_KINDS ||
		strcmp(node, own) != 0)
		return false;
	c->kind = (enum caller_kind)(kind[0] - '0');
	c->secure = secure[0] == '1';
	return true;
}

bool caller_verify(
	const struct auth *a, const char *authorization, uint64_t now_ms, struct caller *ret_caller)
{
	unsigned char key[AUTH_KEY_SIZE];
	char text[TOKEN_ID_SIZE];
	if (!a->node[0] || strncasecmp(authorization, "Bearer ", 7) != 0)
		return false;
	auth_derive(a, PURPOSE, key);
	*ret_caller = (struct caller){0};
	return token_verify(authorization + 7, key, sizeof key, now_ms / 1000, text) == 0 &&
		parse(text, a->node, ret_caller);
}

enum auth_result caller_authenticate(
	struct auth *a, const struct caller *c, bool terminal, struct principal *p)
{
	bool good = true;
	*p = (struct principal){.role = ROLE_OWNER};
	if (c->kind == CALLER_ANYONE)
		return AUTH_MISSING;
	if (c->kind == CALLER_LINK)
		good = auth_of_link(a, c->id, terminal, p);
	else if (c->kind == CALLER_LOGIN)
		good = auth_of_login(a, c->id, p);
	p->forwarded = true;
	return good ? AUTH_OK : AUTH_WRONG;
}
