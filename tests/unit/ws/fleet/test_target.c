#include "ws/fleet/target.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void expect(const struct target *t, const char *text)
{
	char *target = target_write(t);
	cr_expect_str_eq(target, text);
	free(target);
}

Test(target, is_encoded)
{
	static char texts[][16] = {"a=1 &2=3#", "node=x", "empty=", "bare", "\xc3\xa9=/?"};
	char *params[] = {texts[0], texts[1], texts[2], texts[3], texts[4]};
	expect(&(struct target){.url = "http://h:1", .path = "/api/file/a b%/\xc3\xa9?#"},
		"http://h:1/api/file/a%20b%25/%C3%A9%3F%23");
	expect(&(struct target){.url = "", .path = "/p", .params = params, .params_count = 5},
		"/p?a=1%20%262%3D3%23&empty=&bare&%C3%A9=%2F%3F");
	expect(
		&(struct target){
			.url = "", .path = "/p", .params = params, .params_count = 2, .node = "b"},
		"/p?a=1%20%262%3D3%23&node=b");
	expect(&(struct target){.url = "u", .path = "/p", .node = "b"}, "u/p?node=b");
	expect(&(struct target){.url = "u", .path = "//abs/x:y@z~.-_"}, "u//abs/x:y@z~.-_");
}

/* What is written is read again as it was. */
Test(target, is_decoded_as_it_was)
{
	struct request *r = request_create();
	char path[256] = "/", param[256] = "n=";
	for (int i = 1; i < 128; i++) {
		path[i] = (char)i;
		param[i + 1] = (char)i;
	}
	char *params[] = {param};
	char *text = target_write(
		&(struct target){.url = "", .path = path, .params = params, .params_count = 1});
	cr_assert_eq(request_parse_target(r, text), 0);
	cr_expect_str_eq(r->path, path);
	cr_expect_str_eq(r->params[0], param);
	free(text);
	request_unref(r);
}
