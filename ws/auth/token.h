/* Signed tokens (JWT, RFC 7519, HS256 only). The only code that uses libjwt. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TOKEN_TEXT_MAX 256u

/* The claims of a token. */
struct token_claims {
	char kind[8];            /* "link" */
	char id[TOKEN_TEXT_MAX]; /* jti */
	uint64_t expires_s;      /* exp, seconds since 1970 */
};

/* Sign claims. Returns a string owned by the caller (free()), or NULL. */
char *token_sign(const struct token_claims *claims, const unsigned char *key, size_t key_length);

/* Check signature, algorithm and expiry. Returns 0, or -EACCES; then *ret_claims is untouched. */
int token_verify(const char *token, const unsigned char *key, size_t key_length, uint64_t now_s,
	struct token_claims *ret_claims);
