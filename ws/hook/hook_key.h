/*
 * Signatures of webhooks, by Standard Webhooks 1.0 (https://github.com/standard-webhooks/standard-webhooks, "Signature
 * scheme", symmetric). The header webhook-signature has "v1," and the base64 of HMAC-SHA256 over
 * `webhook-id.webhook-timestamp.body`, once for each key, separated by blanks. Two keys allow key rotation.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HOOK_KEYS_MAX 4u
#define HOOK_KEY_MIN 24u /* bytes, as the specification has it */
#define HOOK_KEY_MAX 64u
#define HOOK_KEYS_TEXT_MAX ((size_t)1 << 10) /* bytes of the key file */
#define HOOK_SIGNATURE_SIZE (HOOK_KEYS_MAX * 48u + 1u)
#define HOOK_BODY_MAX ((size_t)4 << 10) /* bytes of a signed body */

/* The keys. */
struct hook_keys {
	struct {
		unsigned char bytes[HOOK_KEY_MAX];
		size_t length;
	} items[HOOK_KEYS_MAX];
	size_t count;
};

/*
 * Parse the text of a key file: one key a line, HOOK_KEY_MIN to HOOK_KEY_MAX bytes in base64, with or without the prefix
 * "whsec_". Returns 0, or -EINVAL if a key is invalid or there are none or too many.
 */
int hook_keys_parse(const char *text, struct hook_keys *ret_keys);

/* Wipe the keys from memory. */
void hook_keys_wipe(struct hook_keys *keys);

/*
 * Write the value of webhook-signature; "" if there are no keys. length: at most HOOK_BODY_MAX. Returns 0, -EMSGSIZE, or
 * -EIO if OpenSSL fails.
 */
int hook_sign(const struct hook_keys *keys, const char *id, uint64_t time_s, const char *body,
	size_t length, char ret_text[HOOK_SIGNATURE_SIZE]);
