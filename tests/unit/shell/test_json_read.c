#include "shell/json_read.h"

#include "tests/lib/shortage.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(json_read, .timeout = 60);

/* A text with every kind of token, some of them longer than a piece. */
static char *make_text(size_t most)
{
	char *text = malloc(most + 256), *at = text;
	cr_assert(text);
	at = stpcpy(at,
		"{\"a\": [1, -2.5e3, true, null, \"\\u00e4\\n\"], \"b\": {\"c\": {}}, \"text\": \"");
	while ((size_t)(at - text) < most)
		at = stpcpy(at, "0123456789abcdef");
	stpcpy(at, "\", \"end\": [[[[]]]]}");
	return text;
}

Test(json_read, same_result_as_jansson)
{
	static const char *const texts[] = {
		"{}", "[", "1 2", "", "\"\\x\"", "[1,{\"a\":2}]", "nul", "{\"a\":1,\"a\":2}"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		bool is_short = true;
		json_t *ours = json_read(
			texts[i], strlen(texts[i]), JSON_REJECT_DUPLICATES, &is_short);
		json_t *theirs = json_loadb(
			texts[i], strlen(texts[i]), JSON_REJECT_DUPLICATES, NULL);
		cr_expect_eq(ours != NULL, theirs != NULL, "%s", texts[i]);
		cr_expect(!ours || json_equal(ours, theirs), "%s", texts[i]);
		cr_expect_not(is_short, "%s", texts[i]);
		json_decref(ours);
		json_decref(theirs);
	}
}

Test(json_read, lack_of_memory_is_reported)
{
	json_read_open();
	static const size_t sizes[] = {10, 5000, 40000};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char *text = make_text(sizes[i]);
		bool is_short = true;
		for (size_t n = 0; is_short; n++) {
			shortage_after(n);
			json_t *root = json_read(text, strlen(text), 0, &is_short);
			size_t refused = shortage_over();
			cr_expect_eq(root == NULL, is_short, "%zu: %zu", sizes[i], n);
			cr_expect_eq(refused > 0, is_short, "%zu: %zu", sizes[i], n);
			cr_expect(is_short || json_object_get(root, "end"));
			json_decref(root);
			cr_assert_lt(n, 1000);
		}
		free(text);
	}
}
