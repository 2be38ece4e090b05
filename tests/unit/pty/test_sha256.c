/* Answers that are known: FIPS 180-4 and RFC 4231. */
#include "pty/sha256.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *hex(const uint8_t digest[SHA256_SIZE])
{
	static char text[2 * SHA256_SIZE + 1];
	for (size_t i = 0; i < SHA256_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	return text;
}

static struct sha256_part part(const char *text)
{
	return (struct sha256_part){text, strlen(text)};
}

Test(sha256_digest, known_answers)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	uint8_t digest[SHA256_SIZE];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sha256_part p = part(cases[i].text);
		sha256_digest(&p, 1, digest);
		cr_expect_str_eq(hex(digest), cases[i].wanted);
	}
}

Test(sha256_digest, long_texts_in_any_parts)
{
	static char text[1000001];
	uint8_t digest[SHA256_SIZE];
	memset(text, 'a', sizeof text - 1);
	for (size_t cut = 0; cut < 200; cut += 13) {
		const struct sha256_part parts[] = {{text, cut}, {text, 1000000 - cut}};
		sha256_digest(parts, 2, digest);
		cr_expect_str_eq(hex(digest),
			"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	}
}

Test(sha256_hmac, known_answers)
{
	uint8_t key[20], digest[SHA256_SIZE];
	memset(key, 0x0b, sizeof key);
	const struct sha256_part first = {key, sizeof key}, jefe = part("Jefe");
	struct sha256_part text = part("Hi There");
	sha256_hmac(&first, &text, 1, digest);
	cr_expect_str_eq(
		hex(digest), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	text = part("what do ya want for nothing?");
	sha256_hmac(&jefe, &text, 1, digest);
	cr_expect_str_eq(
		hex(digest), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}
