/*
 * Signatures of webhooks, by Standard Webhooks 1.0 (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md,
 * "Signature scheme", symmetric): the header webhook-signature has "v1," and the base64 of HMAC-SHA256 over
 * `webhook-id.webhook-timestamp.body`, once for each key, separated by blanks, so that keys can be changed while both are known.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HOOK_KEYS_MAX 4u
#define HOOK_KEY_MIN 24u /* bytes, as the specification has it */
#define HOOK_KEY_MAX 64u
#define HOOK_KEYS_TEXT_MAX ((size_t)1 << 10) /* bytes of the file with them */
#define HOOK_SIGNATURE_SIZE (HOOK_KEYS_MAX * 48u + 1u)
#define HOOK_BODY_MAX ((size_t)4 << 10) /* bytes of what is signed, without id and time */

struct hook_keys {
	struct {
		unsigned char bytes[HOOK_KEY_MAX];
		size_t length;
	} items[HOOK_KEYS_MAX];
	size_t count;
};

/*
 * Read the text of a file with keys: one a line, HOOK_KEY_MIN to HOOK_KEY_MAX bytes in base64, with or without "whsec_" in front.
 * Returns 0 or -EINVAL: one is no such key, or there is none, or there are too many.
 */
int hook_keys_parse(const char *text, struct hook_keys *ret_keys);

/* Forget them. */
void hook_keys_wipe(struct hook_keys *keys);

/*
 * Write the value of webhook-signature; "" when there are no keys. length: at most HOOK_BODY_MAX. Returns 0, -EMSGSIZE, or -EIO
 * when the library fails.
 */
int hook_sign(const struct hook_keys *keys, const char *id, uint64_t time_s, const char *body,
	size_t length, char ret_text[HOOK_SIGNATURE_SIZE]);
