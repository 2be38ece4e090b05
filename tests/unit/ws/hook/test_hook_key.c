/* Keys of webhooks, and signatures, compared with the example of the specification's libraries. */
#include "ws/hook/hook_key.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KEY "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

Test(hook_sign, example_of_the_libraries)
{
	/* github.com/standard-webhooks/standard-webhooks/blob/main/libraries/python/tests/test_webhooks.py */
	struct hook_keys keys;
	char text[HOOK_SIGNATURE_SIZE];
	const char *body = "{\"test\": 2432232314}";
	cr_assert_eq(hook_keys_parse("whsec_" KEY "\n", &keys), 0);
	cr_assert_eq(keys.items[0].length, 24);
	cr_assert_eq(hook_sign(&keys, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body,
			     strlen(body), text),
		0);
	cr_assert_str_eq(text, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

Test(hook_sign, no_key_and_all_keys)
{
	struct hook_keys keys = {.count = 0};
	char text[HOOK_SIGNATURE_SIZE] = "x";
	cr_assert_eq(hook_sign(&keys, "id", 1, "", 0, text), 0);
	cr_assert_str_eq(text, "");
	cr_assert_eq(hook_keys_parse(KEY "\n" KEY "\r\n\n" KEY "\nwhsec_" KEY, &keys), 0);
	cr_assert_eq(keys.count, HOOK_KEYS_MAX);
	cr_assert_eq(hook_sign(&keys, "id", UINT64_MAX, "", 0, text), 0);
	cr_assert_eq(strlen(text), HOOK_KEYS_MAX * 48 - 1);
	cr_assert_eq(strncmp(text, text + 48, 47), 0);
}

Test(hook_sign, too_long_bodies)
{
	static char body[HOOK_BODY_MAX + 1], id[66];
	struct hook_keys keys;
	char text[HOOK_SIGNATURE_SIZE];
	hook_keys_parse(KEY, &keys);
	memset(id, 'x', sizeof id - 1);
	cr_assert_eq(hook_sign(&keys, "x", 1, body, sizeof body, text), -EMSGSIZE);
	cr_assert_eq(hook_sign(&keys, id, 1, body, 1, text), -EMSGSIZE);
	id[64] = '\0';
	cr_assert_eq(hook_sign(&keys, id, UINT64_MAX, body, HOOK_BODY_MAX, text), 0);
}

Test(hook_keys_parse, texts)
{
	static const struct {
		const char *text;
		size_t length; /* of the first key; 0: refused */
	} cases[] = {
		{KEY, 24},
		{"\n\n" KEY "\n\n", 24},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", 32},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 32},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==", 25},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
			64},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
			0},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 0},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 0},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", 0},
		{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA===", 0},
		{KEY "=", 0},
		{KEY "!", 0},
		{KEY " ", 0},
		{"whsec_", 0},
		{"whsec_" KEY "\nshort", 0},
		{KEY "\n" KEY "\n" KEY "\n" KEY "\n" KEY, 0},
		{"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaL_-w", 0},
		{"", 0},
		{"\n", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hook_keys keys = {.count = 99};
		int rc = hook_keys_parse(cases[i].text, &keys);
		cr_expect_eq(rc, cases[i].length ? 0 : -EINVAL, "%s", cases[i].text);
		if (rc == 0)
			cr_expect_eq(keys.items[0].length, cases[i].length, "%s", cases[i].text);
		else
			cr_expect_eq(keys.count, 99);
	}
}
