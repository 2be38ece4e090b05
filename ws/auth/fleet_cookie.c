#include "ws/auth/fleet_cookie.h"

#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE_BYTES 16u
#define SIGNATURE_SIZE (2 * SIGNATURE_BYTES + 1)

static void sign(const struct fleet_cookie *c, const char *of, const unsigned char *key,
	char ret_signature[SIGNATURE_SIZE])
{
	char text[FLEET_COOKIE_SIZE + 80];
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned length = sizeof digest;
	int n = snprintf(
		text, sizeof text, "cookie:%s:%s:%s:%" PRIu64, of, c->value, c->node, c->expires_s);
	HMAC(EVP_sha256(), key, (int)LINKS_KEY_SIZE, (const unsigned char *)text, (size_t)n, digest,
		&length);
	for (unsigned i = 0; i < SIGNATURE_BYTES; i++)
		snprintf(ret_signature + (size_t)2 * i, 3, "%02x", digest[i]);
}

void fleet_cookie_write(const struct fleet_cookie *c, const char *of, const unsigned char *key,
	char ret_text[FLEET_COOKIE_SIZE])
{
	char signature[SIGNATURE_SIZE];
	sign(c, of, key, signature);
	snprintf(ret_text, FLEET_COOKIE_SIZE, "%s:%s:%" PRIu64 ":%s", c->value, c->node,
		c->expires_s, signature);
}

/* Copy a part, which ends with a colon or the text. Returns what follows, or NULL if the part is empty or too long. */
static const char *take(const char *text, char *ret, size_t size)
{
	size_t length = text ? strcspn(text, ":") : 0;
	if (length == 0 || length >= size)
		return NULL;
	memcpy(ret, text, length);
	ret[length] = '\0';
	return text + length + (text[length] == ':');
}

bool fleet_cookie_read(const char *text, const char *of, const unsigned char *key, uint64_t now_s,
	struct fleet_cookie *c)
{
	char signature[SIGNATURE_SIZE], expected[SIGNATURE_SIZE], expires[12], *end = expires;
	*c = (struct fleet_cookie){0};
	text = take(text, c->value, sizeof c->value);
	text = take(text, c->node, sizeof c->node);
	text = take(text, expires, sizeof expires);
	text = take(text, signature, sizeof signature);
	if (text)
		c->expires_s = strtoull(expires, &end, 10);
	if (!text || *text || *end || strlen(c->value) != LOGIN_VALUE_SIZE - 1 ||
		c->value[LOGIN_ID_SIZE - 1] != '.' || strlen(signature) != SIGNATURE_SIZE - 1)
		return false;
	memcpy(c->id, c->value, LOGIN_ID_SIZE - 1);
	sign(c, of, key, expected);
	return CRYPTO_memcmp(signature, expected, sizeof expected) == 0 && c->expires_s > now_s;
}
