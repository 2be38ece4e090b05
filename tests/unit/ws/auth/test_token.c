#include "ws/auth/token.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <jwt.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char key[32] = "0123456789abcdef0123456789abcdef";
static const unsigned char other_key[32] = "0123456789abcdef0123456789abcdeF";

static char *sign(const char *id, uint64_t expires_s)
{
	return token_sign(id, expires_s, key, sizeof key);
}

/* A token signed by the test. kind or id may be NULL: left out. */
static char *forge(
	jwt_alg_t alg, const unsigned char *with, const char *kind, const char *id, long expires_s)
{
	jwt_t *jwt;
	cr_assert_eq(jwt_new(&jwt), 0);
	cr_assert_eq(jwt_set_alg(jwt, alg, with, with ? 32 : 0), 0);
	if (kind)
		jwt_add_grant(jwt, "kind", kind);
	if (id)
		jwt_add_grant(jwt, "jti", id);
	if (expires_s)
		jwt_add_grant_int(jwt, "exp", expires_s);
	char *text = jwt_encode_str(jwt);
	jwt_free(jwt);
	cr_assert_not_null(text);
	return text;
}

static void expect_refused(char *token, uint64_t now_s)
{
	char got[TOKEN_ID_SIZE] = "untouched";
	cr_expect_eq(token_verify(token, key, sizeof key, now_s, got), -EACCES, "%.200s", token);
	cr_expect_str_eq(got, "untouched", "%.200s", token);
	free(token);
}

Test(token_verify, accepts_what_was_signed)
{
	char got[TOKEN_ID_SIZE];
	char *token = sign("0123456789abcdef", 2000);
	cr_assert_eq(token_verify(token, key, sizeof key, 1999, got), 0);
	cr_assert_str_eq(got, "0123456789abcdef");
	free(token);
}

Test(token_verify, forged_token_of_the_tests_can_be_valid)
{
	char got[TOKEN_ID_SIZE];
	char *token = forge(JWT_ALG_HS256, key, "link", "x", 2000);
	cr_assert_eq(token_verify(token, key, sizeof key, 1000, got), 0);
	free(token);
}

Test(token_verify, refuses_what_is_not_exactly_ours)
{
	char long_id[TOKEN_ID_SIZE + 1] = "";
	const struct {
		jwt_alg_t alg;
		const unsigned char *with;
		const char *kind, *id;
		long expires_s;
	} cases[] = {{JWT_ALG_HS256, key, "link", "x", 1000}, /* expired */
		{JWT_ALG_HS256, key, "link", "x", 0}, {JWT_ALG_HS256, key, "link", "x", -5},
		{JWT_ALG_HS256, other_key, "link", "x", 2000},
		{JWT_ALG_NONE, NULL, "link", "x", 2000}, {JWT_ALG_HS384, key, "link", "x", 2000},
		{JWT_ALG_HS512, key, "link", "x", 2000}, {JWT_ALG_HS256, key, NULL, "x", 2000},
		{JWT_ALG_HS256, key, "owner", "x", 2000}, {JWT_ALG_HS256, key, "link", NULL, 2000},
		{JWT_ALG_HS256, key, "link", long_id, 2000}};
	memset(long_id, 'x', TOKEN_ID_SIZE);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_refused(forge(cases[i].alg, cases[i].with, cases[i].kind, cases[i].id,
				       cases[i].expires_s),
			1000);
}

/* header.payload. with any header, as a forger would write it. */
static char *by_hand(const char *header, const char *payload, const char *signature)
{
	char a[512] = "", b[512] = "", *token = malloc(2048);
	EVP_EncodeBlock((unsigned char *)a, (const unsigned char *)header, (int)strlen(header));
	EVP_EncodeBlock((unsigned char *)b, (const unsigned char *)payload, (int)strlen(payload));
	a[strcspn(a, "=")] = b[strcspn(b, "=")] = '\0';
	snprintf(token, 2048, "%s.%s.%s", a, b, signature);
	return token;
}

Test(token_verify, forged_headers)
{
	static const char payload[] = "{\"kind\":\"link\",\"jti\":\"x\",\"exp\":2000}";
	static const char *const headers[] = {"{\"alg\":\"none\"}", "{\"alg\":\"None\"}",
		"{\"alg\":\"NONE\"}", "{\"alg\":\"\"}", "{}", "{\"alg\":null}",
		"{\"alg\":\"HS256\"}", "{\"alg\":\"RS256\"}", "[]", "",
		"{\"alg\":\"HS256\",\"alg\":\"none\"}"};
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		expect_refused(by_hand(headers[i], payload, ""), 1000);
		expect_refused(by_hand(headers[i], payload, "AAAA"), 1000);
	}
}

Test(token_verify, any_changed_character_invalidates_it)
{
	char *token = sign("0123456789abcdef", 2000);
	for (size_t i = 0; token[i]; i++) {
		char *copy = strdup(token);
		char got[TOKEN_ID_SIZE];
		copy[i] = copy[i] == 'A' ? 'B' : 'A';
		/* The last character of base64 has unused bits. */
		if (token[i + 1] && token[i + 1] != '.')
			cr_expect_eq(token_verify(copy, key, sizeof key, 1000, got), -EACCES, "%s",
				copy);
		free(copy);
	}
	free(token);
}

Test(token_verify, truncated_anywhere)
{
	char *token = sign("0123456789abcdef", 2000);
	for (size_t length = strlen(token); length-- > 0;) {
		char *copy = strndup(token, length);
		expect_refused(copy, 1000);
	}
	free(token);
}

Test(token_verify, garbage)
{
	static const char *const cases[] = {"", ".", "..", "...", "a.b.c", "a.b.c.d",
		"\xff\xff.\xff.\xff", "   ", "e30.e30.e30", "eyJhbGciOiJIUzI1NiJ9..", "..AAAA"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_refused(strdup(cases[i]), 1000);
}

Test(token_verify, very_long_text_is_not_parsed)
{
	char *text = malloc(1 << 20);
	memset(text, 'a', 1 << 20);
	text[(1 << 20) - 1] = '\0';
	text[1000] = text[2000] = '.';
	expect_refused(text, 1000);
}

Test(token_sign, result_is_short_enough_to_verify)
{
	char id[TOKEN_ID_SIZE];
	char got[TOKEN_ID_SIZE];
	memset(id, 'x', sizeof id - 1);
	id[sizeof id - 1] = '\0';
	char *token = sign(id, 4102444800);
	cr_assert_eq(token_verify(token, key, sizeof key, 1000, got), 0);
	cr_assert_str_eq(got, id);
	free(token);
}
