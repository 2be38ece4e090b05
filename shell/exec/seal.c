/* See seal.h. If a digest cannot be computed, the seal fits no text: reports are rejected. */
#include "shell/exec/seal.h"

#include "shell/id.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

static bool digest_of(const char *text, size_t length, uint8_t ret_digest[SEAL_DIGEST])
{
	uint8_t whole[EVP_MAX_MD_SIZE] = {0};
	bool made = EVP_Digest(text, length, whole, NULL, EVP_sha256(), NULL) == 1;
	memcpy(ret_digest, whole, SEAL_DIGEST);
	return made;
}

int seal_make(struct seal *seal, char ret_typed[SEAL_TYPED + 1])
{
	char digits[2 * SEAL_DIGITS + 1];
	struct seal made = {.made = true};
	int rc = id_digits(digits, 2 * SEAL_DIGITS, 36);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < 2; i++)
		if (!digest_of(digits + i * SEAL_DIGITS, SEAL_DIGITS, made.digest[i]))
			return -ENOMEM;
	snprintf(ret_typed, SEAL_TYPED + 1, SEAL_LEAD "%s", digits);
	*seal = made;
	return 0;
}

bool seal_matches(const struct seal *seal, enum seal_part part, const char *text)
{
	uint8_t digest[SEAL_DIGEST];
	return seal->made && strlen(text) == SEAL_DIGITS && digest_of(text, SEAL_DIGITS, digest) &&
		memcmp(digest, seal->digest[part], sizeof digest) == 0;
}

static const char digits[] = "0123456789abcdef";

void seal_write(const struct seal *seal, char ret_text[SEAL_TEXT + 1])
{
	const uint8_t *bytes = seal->digest[0];
	size_t length = seal->made ? sizeof seal->digest : 0;
	for (size_t i = 0; i < length; i++) {
		ret_text[2 * i] = digits[bytes[i] >> 4];
		ret_text[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret_text[2 * length] = '\0';
}

void seal_read(struct seal *seal, const char *text)
{
	uint8_t *bytes = seal->digest[0];
	*seal = (struct seal){
		.made = strlen(text) == SEAL_TEXT && strspn(text, digits) == SEAL_TEXT};
	for (size_t i = 0; seal->made && i < sizeof seal->digest; i++) {
		const char *high = strchr(digits, text[2 * i]);
		const char *low = strchr(digits, text[2 * i + 1]);
		bytes[i] = (uint8_t)((high - digits) << 4 | (low - digits));
	}
}
