/* Signed tokens (JWT, RFC 7519, HS256 only). The only code that uses libjwt. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TOKEN_ID_SIZE 256u

/* Sign the id of a link and its expiry, in seconds since 1970. Returns a string owned by the caller (free()), or NULL. */
char *token_sign(const char *id, uint64_t expires_s, const unsigned char *key, size_t key_length);

/* Check signature, algorithm and expiry. Returns 0, or -EACCES; then ret_id is untouched. */
int token_verify(const char *token, const unsigned char *key, size_t key_length, uint64_t now_s,
	char ret_id[TOKEN_ID_SIZE]);
