#include "tests/lib/json_text.h"
#include "ws/base64.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

TestSuite(base64, .timeout = 30);

Test(base64, round_trip)
{
	uint8_t bytes[300];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 37);
	for (size_t length = 0; length < sizeof bytes; length++) {
		size_t again = 77;
		json_t *json = base64_json(bytes, length);
		cr_assert_eq(json_string_length(json), (length + 2) / 3 * 4);
		unsigned char *decoded = base64_decode(json_string_value(json), &again);
		cr_assert_not_null(decoded);
		cr_assert_eq(again, length);
		cr_assert_eq(memcmp(decoded, bytes, length), 0);
		free(decoded);
		json_decref(json);
	}
}

Test(base64, known_texts)
{
	json_expect(base64_json("\0\377", 2), "'AP8='");
	json_expect(base64_json(NULL, 0), "''");
}

Test(base64, invalid_texts)
{
	static const char *const texts[] = {
		"A", "AB", "ABC", "AB=C", "????", "A===", "QQ==QQ==", "    QQ==", "QQ==\n\n\n\n"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		size_t length;
		unsigned char *bytes = base64_decode(texts[i], &length);
		cr_expect_null(bytes, "%s", texts[i]);
		free(bytes);
	}
}

Test(base64, padding_may_be_missing)
{
	static const struct {
		const char *text, *bytes;
	} cases[] = {{"", ""}, {"YQ", "a"}, {"YQ==", "a"}, {"YWI", "ab"}, {"YWI=", "ab"},
		{"YWJj", "abc"}, {"YWJjZA", "abcd"}};
	static const char *const none[] = {
		"A", "AAAAA", "YQ=", "YWI==", "Y=Q=", "=", "YQ==YQ", "YQ\n", "Y Q", "YQ-_"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t length = 99;
		unsigned char *bytes = base64_decode_unpadded(cases[i].text, &length);
		cr_assert_not_null(bytes, "%s", cases[i].text);
		cr_expect_eq(length, strlen(cases[i].bytes), "%s", cases[i].text);
		cr_expect_eq(memcmp(bytes, cases[i].bytes, length), 0, "%s", cases[i].text);
		free(bytes);
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		size_t length;
		unsigned char *bytes = base64_decode_unpadded(none[i], &length);
		cr_expect_null(bytes, "%s", none[i]);
		free(bytes);
	}
}
