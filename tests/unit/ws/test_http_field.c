#include "ws/http_field.h"

#include <criterion/criterion.h>
#include <string.h>

Test(http_field, valid_and_invalid_fields)
{
	struct http_field f;
	char good[] = "X-Name:\t a b \t", empty[] = "a:";
	cr_assert(http_field_parse(good, &f));
	cr_assert_str_eq(f.name, "x-name");
	cr_assert_str_eq(f.value, "a b");
	cr_assert(http_field_parse(empty, &f));
	cr_assert_str_eq(f.value, "");
	static const char *const wrong[] = {
		"a", ":b", "a :b", "a\t:b", "a b:c", "a:\x01", "a:b\x7f", " a:b", "\xe4:b"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char line[16];
		strcpy(line, wrong[i]);
		cr_assert_not(http_field_parse(line, &f), "%s", wrong[i]);
	}
}

Test(http_field, lists_and_names)
{
	const struct http_field fields[] = {{"a", "x, Y"}, {"b", "1"}, {"a", "z"}};
	cr_assert_str_eq(http_fields_find(fields, 3, "a"), "x, Y");
	cr_assert_null(http_fields_find(fields, 3, "c"));
	cr_assert(http_fields_have_token(fields, 3, "a", "y") &&
		http_fields_have_token(fields, 3, "a", "Z"));
	cr_assert_not(http_fields_have_token(fields, 3, "a", "x, Y") ||
		http_fields_have_token(fields, 3, "b", "x"));
	cr_assert(http_value_has_token(" ,, chunked ,", "chunked") &&
		!http_value_has_token("chunkedx", "chunked"));
}
