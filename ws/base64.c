/* Base64 by OpenSSL, with the checks that it lacks: only the alphabet, and padding only at the end. */
#include "ws/base64.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t base64_encode(const void *bytes, size_t length, char *text)
{
	return (size_t)EVP_EncodeBlock((unsigned char *)text, bytes, (int)length);
}

json_t *base64_json(const void *bytes, size_t length)
{
	char *text = malloc(BASE64_SIZE(length));
	if (!text)
		return NULL;
	json_t *json = json_stringn_nocheck(text, base64_encode(bytes, length, text));
	free(text);
	return json;
}

/* Whether text is base64 with its padding. OpenSSL accepts '=' anywhere, and white space around the text. */
static bool is_base64(const char *text, size_t length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = strspn(text, digits);
	return length % 4 == 0 && length - n <= 2 && strspn(text + n, "=") == length - n;
}

unsigned char *base64_decode(const char *text, size_t *ret_length)
{
	size_t length = strlen(text);
	bool good = is_base64(text, length);
	unsigned char *bytes = good ? malloc(length / 4 * 3 + 1) : NULL;
	int n = bytes ? EVP_DecodeBlock(bytes, (const unsigned char *)text, (int)length) : -1;
	if (n < 0) {
		errno = good && !bytes ? ENOMEM : EINVAL;
		free(bytes);
		return NULL;
	}
	*ret_length = (size_t)n - (length - strcspn(text, "="));
	return bytes;
}

unsigned char *base64_decode_unpadded(const char *text, size_t *ret_length)
{
	size_t length = strlen(text);
	/* Padding is either complete or absent. */
	size_t missing = strchr(text, '=') ? 0 : (4 - length % 4) % 4;
	char *padded = malloc(length + missing + 1);
	if (!padded)
		return NULL;
	memcpy(padded, text, length);
	memset(padded + length, '=', missing);
	padded[length + missing] = '\0';
	unsigned char *bytes = base64_decode(padded, ret_length);
	free(padded);
	return bytes;
}
