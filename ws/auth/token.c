/* Tokens by libjwt. Any error of libjwt makes a token invalid. */
#include "ws/auth/token.h"

#include <errno.h>
#include <jwt.h>
#include <stdlib.h>
#include <string.h>

/* Longer than any valid token; longer texts are not parsed. */
#define TOKEN_MAX 1024u
#define KIND "link" /* tokens of earlier versions may have others */

char *token_sign(const char *id, uint64_t expires_s, const unsigned char *key, size_t key_length)
{
	jwt_t *jwt;
	char *text = NULL;
	if (jwt_new(&jwt) != 0)
		return NULL;
	if (jwt_set_alg(jwt, JWT_ALG_HS256, key, (int)key_length) == 0 &&
		jwt_add_grant(jwt, "kind", KIND) == 0 && jwt_add_grant(jwt, "jti", id) == 0 &&
		jwt_add_grant_int(jwt, "exp", (long)expires_s) == 0)
		text = jwt_encode_str(jwt);
	jwt_free(jwt);
	return text;
}

int token_verify(const char *token, const unsigned char *key, size_t key_length, uint64_t now_s,
	char ret_id[TOKEN_ID_SIZE])
{
	jwt_t *jwt = NULL;
	int rc = -EACCES;
	if (strlen(token) > TOKEN_MAX || jwt_decode(&jwt, token, key, (int)key_length) != 0)
		return rc;
	const char *kind = jwt_get_grant(jwt, "kind"), *id = jwt_get_grant(jwt, "jti");
	long expires = jwt_get_grant_int(jwt, "exp");
	/* An attacker controls the header, which names the algorithm, so accept only ours. */
	if (jwt_get_alg(jwt) == JWT_ALG_HS256 && kind && strcmp(kind, KIND) == 0 && id &&
		strlen(id) < TOKEN_ID_SIZE && expires > 0 && (uint64_t)expires > now_s) {
		memcpy(ret_id, id, strlen(id) + 1);
		rc = 0;
	}
	jwt_free(jwt);
	return rc;
}
