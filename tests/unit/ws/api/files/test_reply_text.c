#include "ws/api/files/reply_text.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What a JSON parser reads. */
static json_t *parsed(const struct reply_text *a)
{
	cr_assert_not(a->failed);
	json_error_t error;
	json_t *json = json_loadb(a->text, a->length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	cr_assert_not_null(json, "%s: %.*s", error.text, (int)a->length, a->text);
	return json;
}

Test(reply_text, every_byte_in_a_string)
{
	for (size_t n = 0; n < 128; n++) {
		struct reply_text a = {0};
		char byte = (char)n;
		reply_text_string(&a, &byte, 1);
		json_t *json = parsed(&a);
		cr_assert_eq(json_string_length(json), 1);
		cr_assert_eq(json_string_value(json)[0], byte);
		json_decref(json);
		reply_text_finish(&a);
	}
}

Test(reply_text, invalid_utf8_is_replaced_at_every_length)
{
	/* Characters across the borders of pieces. */
	size_t length = 100000;
	char *bytes = malloc(length);
	for (size_t i = 0; i < length; i++)
		bytes[i] = "\xe2\x82\xac\"\n\xff z"[i % 8];
	for (size_t cut = 0; cut < 9; cut++) {
		struct reply_text a = {0};
		reply_text_string(&a, bytes, length - cut);
		json_t *json = parsed(&a);
		cr_assert_eq(strncmp(json_string_value(json), "€\"\n\xef\xbf\xbd z€", 12), 0);
		json_decref(json);
		reply_text_finish(&a);
	}
	free(bytes);
}

Test(reply_text, an_object)
{
	struct reply_text a = {0};
	reply_text_raw(&a, "{\"n\":");
	reply_text_number(&a, 18446744073709551615ull / 4);
	reply_text_raw(&a, ",\"b\":");
	reply_text_base64(&a, "\0\1\2\3", 4);
	reply_text_raw(&a, ",\"e\":");
	reply_text_base64(&a, "", 0);
	reply_text_raw(&a, ",\"t\":");
	reply_text_now(&a);
	reply_text_raw(&a, ",\"f\":");
	reply_text_bool(&a, false);
	reply_text_raw(&a, "}");
	json_t *json = parsed(&a);
	cr_assert_str_eq(json_string_value(json_object_get(json, "b")), "AAECAw==");
	cr_assert_str_eq(json_string_value(json_object_get(json, "e")), "");
	cr_assert(json_is_false(json_object_get(json, "f")));
	json_decref(json);
	reply_text_finish(&a);
}
