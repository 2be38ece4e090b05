/* Tokens by libjwt. Any error of libjwt makes a token invalid. */
#include "ws/auth/token.h"

#include <errno.h>
#include <jwt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer than any valid token; longer texts are not parsed. */
#define TOKEN_MAX 1024u

char *token_sign(const struct token_claims *claims, const unsigned char *key, size_t key_length)
{
	jwt_t *jwt;
	char *text = NULL;
	if (jwt_new(&jwt) != 0)
		return NULL;
	if (jwt_set_alg(jwt, JWT_ALG_HS256, key, (int)key_length) == 0 &&
		jwt_add_grant(jwt, "kind", claims->kind) == 0 &&
		jwt_add_grant(jwt, "jti", claims->id) == 0 &&
		jwt_add_grant_int(jwt, "exp", (long)claims->expires_s) == 0)
		text = jwt_encode_str(jwt);
	jwt_free(jwt);
	return text;
}

int token_verify(const char *token, const unsigned char *key, size_t key_length, uint64_t now_s,
	struct token_claims *ret_claims)
{
	jwt_t *jwt = NULL;
	int rc = -EACCES;
	if (strlen(token) > TOKEN_MAX || jwt_decode(&jwt, token, key, (int)key_length) != 0)
		return rc;
	const char *kind = jwt_get_grant(jwt, "kind"), *id = jwt_get_grant(jwt, "jti");
	long expires = jwt_get_grant_int(jwt, "exp");
	/* An attacker controls the header, which names the algorithm, so accept only ours. */
	if (jwt_get_alg(jwt) == JWT_ALG_HS256 && kind && id &&
		strlen(kind) < sizeof ret_claims->kind && strlen(id) < sizeof ret_claims->id &&
		expires > 0 && (uint64_t)expires > now_s) {
		snprintf(ret_claims->kind, sizeof ret_claims->kind, "%s", kind);
		snprintf(ret_claims->id, sizeof ret_claims->id, "%s", id);
		ret_claims->expires_s = (uint64_t)expires;
		rc = 0;
	}
	jwt_free(jwt);
	return rc;
}
