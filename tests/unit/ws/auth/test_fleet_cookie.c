#include "ws/auth/fleet_cookie.h"

#include <criterion/criterion.h>
#include <string.h>

#define ID "0123456789abcdef0123456789abcdef"
#define VALUE ID "." ID ID

static const unsigned char key[LINKS_KEY_SIZE] = "a key of the tests",
			   other[LINKS_KEY_SIZE] = "another";
static const struct fleet_cookie login = {
	.value = VALUE, .node = "node-1.example", .expires_s = 2000000000};

Test(fleet_cookie, is_read_as_it_was_written)
{
	char text[FLEET_COOKIE_SIZE];
	struct fleet_cookie c;
	fleet_cookie_write(&login, "owner", key, text);
	cr_assert(fleet_cookie_read(text, "owner", key, 1999999999, &c));
	cr_expect_str_eq(c.value, VALUE);
	cr_expect_str_eq(c.id, ID);
	cr_expect_str_eq(c.node, "node-1.example");
	cr_expect_eq(c.expires_s, 2000000000);
	cr_expect_not(fleet_cookie_read(text, "owner", key, 2000000000, &c), "expired");
	cr_expect_not(fleet_cookie_read(text, "another", key, 1, &c), "of another owner or link");
	cr_expect_not(fleet_cookie_read(text, "owner", other, 1, &c), "of another fleet");
}

Test(fleet_cookie, any_change_makes_it_invalid)
{
	char text[FLEET_COOKIE_SIZE], changed[FLEET_COOKIE_SIZE];
	struct fleet_cookie c;
	fleet_cookie_write(&login, "owner", key, text);
	for (size_t i = 0; i < strlen(text); i++) {
		memcpy(changed, text, sizeof changed);
		changed[i] = changed[i] == '1' ? '2' : '1';
		cr_expect_not(fleet_cookie_read(changed, "owner", key, 1, &c), "at %zu", i);
		changed[i] = '\0';
		cr_expect_not(fleet_cookie_read(changed, "owner", key, 1, &c), "cut at %zu", i);
	}
	static const char *const invalid[] = {"", ":", ":::", VALUE, VALUE ":a",
		VALUE ":a:1:", "x:a:1:" ID, VALUE ":a:-1:" ID, VALUE ":a:99999999999:" ID,
		VALUE ": :1:" ID};
	for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
		cr_expect_not(fleet_cookie_read(invalid[i], "owner", key, 1, &c), "%s", invalid[i]);
}
