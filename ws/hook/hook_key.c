/* Keys, and HMAC by OpenSSL. Keys are parsed strictly, because a truncated key would sign as well, but wrongly. */
#include "ws/hook/hook_key.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX (4 * ((HOOK_KEY_MAX + 2) / 3))
#define ID_MAX 64u

/* Parse a key: standard base64, of a valid length; the padding may be missing. */
static bool parse_key(const char *text, size_t length, struct hook_keys *keys)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char bytes[3 * TEXT_MAX / 4 + 1];
	char padded[TEXT_MAX + 1];
	size_t digits = 0;
	while (digits < length && strchr(alphabet, text[digits]))
		digits++;
	size_t padding = (4 - digits % 4) % 4, size = digits * 3 / 4;
	if (digits % 4 == 1 || size < HOOK_KEY_MIN || size > HOOK_KEY_MAX ||
		(length != digits && length != digits + padding) ||
		strspn(text + digits, "=") < length - digits || keys->count == HOOK_KEYS_MAX)
		return false;
	memcpy(padded, text, digits);
	memset(padded + digits, '=', padding);
	bool good = EVP_DecodeBlock(
			    bytes, (const unsigned char *)padded, (int)(digits + padding)) >= 0;
	if (good) {
		memcpy(keys->items[keys->count].bytes, bytes, size);
		keys->items[keys->count++].length = size;
	}
	OPENSSL_cleanse(bytes, sizeof bytes);
	OPENSSL_cleanse(padded, sizeof padded);
	return good;
}

int hook_keys_parse(const char *text, struct hook_keys *ret_keys)
{
	static const char prefix[] = "whsec_";
	struct hook_keys keys = {.count = 0};
	bool good = true;
	for (const char *line = text; good && *line;) {
		size_t length = strcspn(line, "\r\n");
		const char *next = line + length + strspn(line + length, "\r\n");
		if (length >= sizeof prefix - 1 && strncmp(line, prefix, sizeof prefix - 1) == 0) {
			line += sizeof prefix - 1;
			length -= sizeof prefix - 1;
			good = length > 0;
		}
		good = good && (length == 0 || parse_key(line, length, &keys));
		line = next;
	}
	good = good && keys.count > 0;
	if (good)
		*ret_keys = keys;
	hook_keys_wipe(&keys);
	return good ? 0 : -EINVAL;
}

void hook_keys_wipe(struct hook_keys *keys)
{
	OPENSSL_cleanse(keys, sizeof *keys);
}

int hook_sign(const struct hook_keys *keys, const char *id, uint64_t time_s, const char *body,
	size_t length, char ret_text[HOOK_SIGNATURE_SIZE])
{
	unsigned char content[ID_MAX + 24 + HOOK_BODY_MAX], digest[EVP_MAX_MD_SIZE];
	char text[HOOK_SIGNATURE_SIZE] = "";
	size_t at = 0;
	if (strlen(id) > ID_MAX || length > HOOK_BODY_MAX)
		return -EMSGSIZE;
	int head = snprintf((char *)content, sizeof content, "%s.%" PRIu64 ".", id, time_s);
	memcpy(content + head, body, length);
	for (size_t i = 0; i < keys->count; i++) {
		unsigned size = sizeof digest;
		char encoded[EVP_MAX_MD_SIZE * 2];
		if (!HMAC(EVP_sha256(), keys->items[i].bytes, (int)keys->items[i].length, content,
			    (size_t)head + length, digest, &size))
			return -EIO;
		EVP_EncodeBlock((unsigned char *)encoded, digest, (int)size);
		at += (size_t)snprintf(
			text + at, sizeof text - at, "%sv1,%s", i > 0 ? " " : "", encoded);
	}
	memcpy(ret_text, text, sizeof text);
	return 0;
}
