#include "tests/lib/folder.h"
#include "shell/clock.h"
#include "ws/auth/auth.h"
#include "ws/auth/token.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define TOKEN "a-token-of-the-tests-0123456789"

static struct folder folder;
static struct auth a;
static char cookie[AUTH_COOKIE_SIZE];

static int open_with(const char *owners)
{
	return auth_open(&a, &(struct auth_options){.runtime_dir = folder.path, .token = owners});
}

static void set_up(void)
{
	folder_make(&folder);
	cr_assert_eq(open_with(TOKEN), 0);
}

static void set_up_folder(void)
{
	folder_make(&folder);
}

static char *token; /* of the last link */

static void tear_down(void)
{
	auth_close(&a);
	folder_remove(&folder);
	free(token);
}

TestSuite(auth_check, .init = set_up, .fini = tear_down);
TestSuite(auth_login, .init = set_up, .fini = tear_down);
TestSuite(auth_link, .init = set_up, .fini = tear_down);
TestSuite(auth_logout, .init = set_up, .fini = tear_down);
TestSuite(auth_restart, .init = set_up, .fini = tear_down);
TestSuite(auth_open, .init = set_up_folder, .fini = tear_down);

static struct principal principal;
static bool secure; /* whether the request comes over TLS */

static enum auth_result check(const char *authorization, const char *cookies, const char *link)
{
	memset(&principal, 0x55, sizeof principal);
	return auth_check(&a,
		&(struct credentials){.authorization = authorization,
			.cookie = cookies,
			.link = link,
			.peer = "127.0.0.1",
			.secure = secure},
		&principal);
}

static enum auth_result login(const char *with)
{
	memset(&principal, 0x55, sizeof principal);
	const struct auth_request request = {
		.token = with, .peer = "127.0.0.1", .agent = "Browser/1", .secure = secure};
	enum auth_result result = auth_login(&a, &request, &principal, cookie);
	if (result == AUTH_OK)
		logins_store(&a.logins, NULL, NULL);
	return result;
}

/* The Cookie header that a browser sends for `cookie`. */
static const char *cookie_header(void)
{
	static char text[AUTH_COOKIE_SIZE];
	snprintf(text, sizeof text, "%.*s", (int)strcspn(cookie, ";"), cookie);
	return text;
}

static struct link_entry link_entry;

/* Make a link to session "main" of epoch 7: link_entry, and token, its signed text. */
static void make_link(enum role role)
{
	link_entry = (struct link_entry){
		.session = "main", .role = role, .epoch = 7, .expires_ms = clock_wall_ms() + 3600000};
	cr_assert_eq(links_issue(&a.links, &link_entry, clock_wall_ms(), &token), 0);
	links_store(&a.links, NULL, NULL);
}

Test(auth_check, bearer_token_is_the_owner)
{
	cr_assert_eq(check("Bearer " TOKEN, NULL, NULL), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_OWNER);
	cr_assert_not(principal.by_cookie);
	cr_assert_str_eq(principal.session, "");
	cr_assert_str_eq(principal.link, "");
	cr_assert_eq(principal.expires_ms, 0);
	cr_assert_eq(check("bearer " TOKEN, NULL, NULL), AUTH_OK, "the scheme is case-insensitive");
}

Test(auth_check, wrong_credentials)
{
	static const char *const cases[] = {"", "Bearer", "Bearer ", "Bearer x", TOKEN,
		"Basic " TOKEN, "Bearer  " TOKEN, "Bearer " TOKEN "x", "Bearer " TOKEN " ",
		"Bearer a-token"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		memset(&a.limiter, 0, sizeof a.limiter);
		cr_expect_eq(check(cases[i], NULL, NULL), AUTH_WRONG, "%s", cases[i]);
		cr_expect_eq(principal.expires_ms, UINT64_C(0x5555555555555555), "untouched");
	}
}

Test(auth_check, no_credentials)
{
	cr_assert_eq(check(NULL, NULL, NULL), AUTH_MISSING);
	cr_assert_eq(check(NULL, "", NULL), AUTH_MISSING);
	cr_assert_eq(check(NULL, "other=1", NULL), AUTH_MISSING);
}

Test(auth_check, open_server_accepts_every_client_as_owner)
{
	a.open = true;
	cr_assert_eq(check(NULL, NULL, NULL), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_OWNER);
	cr_assert_eq(check("Bearer wrong", NULL, NULL), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_OWNER);
}

Test(auth_check, trusted_transport_needs_no_credentials_but_checks_them)
{
	struct credentials c = {.owner = true, .peer = "unix"};
	cr_assert_eq(auth_check(&a, &c, &principal), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_OWNER);
	c.authorization = "Bearer wrong";
	cr_assert_eq(auth_check(&a, &c, &principal), AUTH_WRONG);
	char header[600];
	make_link(ROLE_VIEWER);
	snprintf(header, sizeof header, "Bearer %s", token);
	c.authorization = header;
	cr_assert_eq(auth_check(&a, &c, &principal), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_VIEWER);
}

Test(auth_check, failures_are_limited_but_the_right_token_is_not)
{
	for (unsigned i = 0; i < LIMITER_BURST; i++)
		cr_assert_eq(check("Bearer wrong", NULL, NULL), AUTH_WRONG);
	unsigned limited = 0;
	for (unsigned i = 0; i < 5; i++)
		limited += check("Bearer wrong", NULL, NULL) == AUTH_LIMITED;
	cr_assert_geq(limited, 4);
	cr_assert_eq(login("wrong"), AUTH_LIMITED);
	cr_assert_eq(check("Bearer " TOKEN, NULL, NULL), AUTH_OK);
	cr_assert_eq(login(TOKEN), AUTH_OK);
}

Test(auth_check, stale_cookies_are_not_counted_as_failures)
{
	for (unsigned i = 0; i < 100; i++) {
		char text[100];
		snprintf(text, sizeof text, "%s=stale", a.cookie);
		cr_assert_eq(check(NULL, text, NULL), AUTH_MISSING);
	}
	cr_assert_eq(check("Bearer wrong", NULL, NULL), AUTH_WRONG);
}

Test(auth_login, owners_cookie)
{
	cr_assert_eq(login(TOKEN), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_OWNER);
	cr_assert(principal.by_cookie);
	cr_assert_not_null(strstr(cookie, "; Path=/"));
	cr_assert_not_null(strstr(cookie, "; HttpOnly"));
	cr_assert_not_null(strstr(cookie, "; SameSite=Strict"));
	cr_assert_null(strstr(cookie, "Secure"));
	cr_assert_null(strstr(cookie, "Domain"));
	cr_assert_null(strstr(cookie, TOKEN), "the cookie does not have the token");
	cr_assert_eq(check(NULL, cookie_header(), NULL), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_OWNER);
	cr_assert(principal.by_cookie);
}

Test(auth_login, secure_over_tls)
{
	char plain[AUTH_COOKIE_SIZE], text[AUTH_COOKIE_SIZE];
	secure = true;
	login(TOKEN);
	cr_assert_not_null(strstr(cookie, "; Secure"));
	cr_assert_eq(strncmp(cookie, "__Host-", 7), 0, "%s", cookie);
	cr_assert_eq(check(NULL, cookie_header(), NULL), AUTH_OK);
	/* A cookie that a page without TLS may have set does not count: browsers guard only the __Host- name. */
	snprintf(text, sizeof text, "%s", cookie_header() + strlen("__Host-"));
	cr_assert_eq(check(NULL, text, NULL), AUTH_MISSING);
	secure = false;
	login(TOKEN);
	snprintf(plain, sizeof plain, "%s", cookie_header());
	cr_assert_eq(check(NULL, plain, NULL), AUTH_OK);
	secure = true;
	cr_assert_eq(check(NULL, plain, NULL), AUTH_MISSING);
}

Test(auth_login, cookie_is_found_among_other_cookies)
{
	char text[2 * AUTH_COOKIE_SIZE];
	login(TOKEN);
	snprintf(text, sizeof text, "a=1; x%s; b=\"2\" ; %s;c=3", cookie_header(), cookie_header());
	cr_assert_eq(check(NULL, text, NULL), AUTH_OK);
}

Test(auth_login, changed_cookie_is_refused)
{
	char text[AUTH_COOKIE_SIZE];
	login(TOKEN);
	snprintf(text, sizeof text, "%s", cookie_header());
	text[strlen(text) / 2] ^= 1;
	cr_assert_eq(check(NULL, text, NULL), AUTH_MISSING);
}

Test(auth_login, wrong_header_beats_a_good_cookie)
{
	login(TOKEN);
	cr_assert_eq(check("Bearer wrong", cookie_header(), NULL), AUTH_WRONG);
}

Test(auth_login, cookie_is_no_bearer_token)
{
	char text[AUTH_COOKIE_SIZE + 20];
	login(TOKEN);
	snprintf(text, sizeof text, "Bearer %s", strchr(cookie_header(), '=') + 1);
	cr_assert_eq(check(text, NULL, NULL), AUTH_WRONG);
	cr_assert_eq(login(strchr(cookie_header(), '=') + 1), AUTH_WRONG);
}

Test(auth_link, bearer_has_one_session_and_one_role)
{
	char header[AUTH_COOKIE_SIZE];
	make_link(ROLE_VIEWER);
	snprintf(header, sizeof header, "Bearer %s", token);
	cr_assert_eq(check(header, NULL, NULL), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_VIEWER);
	cr_assert_str_eq(principal.session, "main");
	cr_assert_eq(principal.epoch, 7);
	cr_assert_str_eq(principal.link, link_entry.id);
	cr_assert_eq(principal.expires_ms, link_entry.expires_ms);
	cr_assert_not(principal.by_cookie);
}

Test(auth_link, cookie_counts_only_if_the_request_names_the_link)
{
	make_link(ROLE_DRIVER);
	cr_assert_eq(login(token), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_DRIVER);
	cr_assert_eq(check(NULL, cookie_header(), link_entry.id), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_DRIVER);
	cr_assert(principal.by_cookie);
	cr_assert_eq(check(NULL, cookie_header(), NULL), AUTH_MISSING);
	cr_assert_eq(check(NULL, cookie_header(), "00000000000000000000000000000000"), AUTH_MISSING);
}

Test(auth_link, cookie_beside_the_owners)
{
	char text[2 * AUTH_COOKIE_SIZE + 4];
	make_link(ROLE_VIEWER);
	login(token);
	snprintf(text, sizeof text, "%s; ", cookie_header());
	login(TOKEN);
	strcat(text, cookie_header());
	cr_assert_eq(check(NULL, text, link_entry.id), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_VIEWER, "a request with a link has the link's role");
	cr_assert_eq(check(NULL, text, NULL), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_OWNER);
	cr_assert_eq(check(NULL, text, ""), AUTH_OK);
	cr_assert_eq(principal.role, ROLE_OWNER);
}

Test(auth_link, cookie_lasts_as_long_as_the_link)
{
	make_link(ROLE_DRIVER);
	login(token);
	const char *age = strstr(cookie, "Max-Age=");
	cr_assert_not_null(age);
	long seconds = strtol(age + 8, NULL, 10);
	cr_assert(seconds > 3590 && seconds <= 3600);
}

Test(auth_link, revoked_link_is_refused_everywhere)
{
	char header[AUTH_COOKIE_SIZE];
	make_link(ROLE_DRIVER);
	snprintf(header, sizeof header, "Bearer %s", token);
	login(token);
	links_revoke(&a.links, link_entry.id);
	cr_assert_eq(check(header, NULL, NULL), AUTH_WRONG);
	cr_assert_eq(check(NULL, cookie_header(), link_entry.id), AUTH_MISSING);
	cr_assert_eq(login(token), AUTH_WRONG);
}

Test(auth_link, expired_link)
{
	make_link(ROLE_DRIVER);
	a.links.entries[0].expires_ms = clock_wall_ms();
	cr_assert_eq(login(token), AUTH_WRONG);
}

Test(auth_link, invalid_link_ids)
{
	char longest[5000];
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	login(TOKEN);
	cr_assert_eq(check(NULL, cookie_header(), longest), AUTH_MISSING);
	cr_assert_eq(check(NULL, cookie_header(), "=;%s%n"), AUTH_MISSING);
}

Test(auth_may_see, table)
{
	struct principal owner = {.role = ROLE_OWNER},
			 link = {.role = ROLE_DRIVER, .session = "main", .epoch = 7};
	cr_assert(auth_may_see(&owner, "main", 7));
	cr_assert(auth_may_see(&owner, "other", 0));
	cr_assert(auth_may_see(&link, "main", 7));
	cr_assert_not(auth_may_see(&link, "main", 8), "a later session with the same id");
	cr_assert_not(auth_may_see(&link, "other", 7));
	cr_assert_not(auth_may_see(&link, "mai", 7));
	cr_assert_not(auth_may_see(&link, "main2", 7));
}

Test(auth_logout, clears_the_right_cookie)
{
	make_link(ROLE_VIEWER);
	login(TOKEN);
	cr_assert(auth_logout(&a, &principal, false, cookie));
	cr_assert_not_null(strstr(cookie, "Max-Age=0"));
	cr_assert_eq(strncmp(cookie, a.cookie, strlen(a.cookie)), 0);
	cr_assert_eq(cookie[strlen(a.cookie)], '=');
	login(token);
	cr_assert(auth_logout(&a, &principal, false, cookie));
	cr_assert_not_null(strstr(cookie, link_entry.id));
	cr_assert_not(auth_logout(&a, &principal, false, cookie), "the login has ended");
}

Test(auth_logout, copied_cookie_is_invalid)
{
	char copied[AUTH_COOKIE_SIZE];
	login(TOKEN);
	snprintf(copied, sizeof copied, "%s", cookie_header());
	cr_assert_eq(check(NULL, copied, NULL), AUTH_OK);
	struct principal before = principal;
	cr_assert(auth_is_current(&a, &before, clock_wall_ms()));
	auth_logout(&a, &principal, false, cookie);
	cr_assert_eq(check(NULL, copied, NULL), AUTH_MISSING);
	cr_assert_not(auth_is_current(&a, &before, clock_wall_ms()));
	logins_store(&a.logins, NULL, NULL);
	auth_close(&a);
	cr_assert_eq(open_with(TOKEN), 0);
	cr_assert_eq(check(NULL, copied, NULL), AUTH_MISSING, "nor after a restart");
}

Test(auth_login, second_login_of_a_browser_replaces_the_first)
{
	char first[AUTH_COOKIE_SIZE];
	login(TOKEN);
	struct principal before = principal;
	snprintf(first, sizeof first, "%s", cookie_header());
	const struct auth_request again = {
		.token = TOKEN, .peer = "127.0.0.1", .agent = "", .before = &before};
	cr_assert_eq(auth_login(&a, &again, &principal, cookie), AUTH_OK);
	cr_assert_eq(a.logins.count, 1);
	cr_assert_str_eq(principal.login, before.login, "the login's streams stay open");
	cr_assert_eq(check(NULL, first, NULL), AUTH_MISSING);
	cr_assert_eq(check(NULL, cookie_header(), NULL), AUTH_OK);
}

Test(auth_link, logins_end_with_their_link)
{
	make_link(ROLE_VIEWER);
	login(TOKEN);
	login(token);
	cr_assert_eq(a.logins.count, 2);
	cr_assert_eq(links_revoke(&a.links, link_entry.id), 0);
	cr_assert_not(auth_is_current(&a, &principal, clock_wall_ms()));
	auth_prune(&a);
	cr_assert_eq(a.logins.count, 1);
	cr_assert_str_eq(a.logins.entries[0].link, "");
}

Test(auth_open, generates_and_stores_a_token)
{
	char first[AUTH_TOKEN_MAX + 1];
	struct stat st;
	cr_assert_eq(open_with(NULL), 0);
	strcpy(first, a.token);
	cr_assert_eq(strlen(first), 43, "256 bits in base64url");
	cr_assert_eq(
		strspn(first, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
		43);
	cr_assert_eq(fstatat(folder.fd, "token", &st, 0), 0);
	cr_assert_eq(st.st_mode & 0777, 0600);
	auth_close(&a);
	cr_assert_eq(open_with(NULL), 0);
	cr_assert_str_eq(a.token, first);
}

Test(auth_open, given_token_is_not_stored)
{
	cr_assert_eq(open_with(TOKEN), 0);
	cr_assert_eq(faccessat(folder.fd, "token", F_OK, 0), -1);
	cr_assert_str_eq(a.token, TOKEN);
}

Test(auth_open, tokens_of_invalid_length)
{
	char text[AUTH_TOKEN_MAX + 2];
	cr_assert_eq(open_with(""), -EINVAL);
	cr_assert_eq(open_with("123456789012345"), -EINVAL);
	cr_assert_eq(open_with("1234567890123456"), 0);
	auth_close(&a);
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	cr_assert_eq(open_with(text), -EINVAL);
	text[AUTH_TOKEN_MAX] = '\0';
	cr_assert_eq(open_with(text), 0);
}

static int open_with_file(const char *text)
{
	char path[300];
	snprintf(path, sizeof path, "%s/file", folder.path);
	if (text)
		folder_put(&folder, "file", text);
	return auth_open(&a, &(struct auth_options){.runtime_dir = folder.path, .token_file = path});
}

Test(auth_open, token_file)
{
	cr_assert_eq(open_with_file(NULL), -ENOENT);
	cr_assert_eq(open_with_file(""), -EINVAL);
	cr_assert_eq(open_with_file("short\n"), -EINVAL);
	cr_assert_eq(open_with_file("1234567890123456\r\nsecond line\n"), 0);
	cr_assert_str_eq(a.token, "1234567890123456");
}

Test(auth_open, token_file_that_is_too_long)
{
	char text[AUTH_TOKEN_MAX + 10];
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	cr_assert_eq(open_with_file(text), -EINVAL);
	text[AUTH_TOKEN_MAX + 1] = '\0';
	cr_assert_eq(open_with_file(text), -EINVAL, "one too many must not be cut to a token");
	text[AUTH_TOKEN_MAX] = '\0';
	cr_assert_eq(open_with_file(text), 0);
}

Test(auth_open, missing_directory)
{
	cr_assert_eq(
		auth_open(&a, &(struct auth_options){.runtime_dir = "/nonexistent", .token = TOKEN}),
		-ENOENT);
}

Test(auth_restart, cookies_and_links_stay_valid)
{
	make_link(ROLE_VIEWER);
	login(TOKEN);
	auth_close(&a);
	cr_assert_eq(open_with(TOKEN), 0);
	cr_assert_eq(check(NULL, cookie_header(), NULL), AUTH_OK);
	cr_assert_eq(login(token), AUTH_OK);
}

Test(auth_restart, another_token_invalidates_the_owners_cookies)
{
	login(TOKEN);
	auth_close(&a);
	cr_assert_eq(open_with("another-token-0123456789"), 0);
	cr_assert_eq(check(NULL, cookie_header(), NULL), AUTH_MISSING);
}

Test(auth_restart, servers_have_different_cookie_names_and_keys)
{
	struct folder first = folder;
	struct auth other = a;
	login(TOKEN);
	folder_make(&folder);
	cr_assert_eq(open_with(TOKEN), 0);
	cr_assert_str_neq(other.cookie, a.cookie);
	cr_assert_eq(check(NULL, cookie_header(), NULL), AUTH_MISSING);
	/* Nor is its value valid under the right name. */
	char text[AUTH_COOKIE_SIZE];
	snprintf(text, sizeof text, "%s%s", a.cookie, strchr(cookie_header(), '='));
	cr_assert_eq(check(NULL, text, NULL), AUTH_MISSING);
	auth_close(&other);
	folder_remove(&first);
}

Test(auth_find_cookie, table)
{
	static const struct {
		const char *header, *want; /* NULL: not found */
	} cases[] = {
		{"n=v", "v"},
		{"n=", ""},
		{"a=1; n=v", "v"},
		{"a=1;n=v", "v"},
		{"n=v; n=w", "v"},
		{"  n=v", "v"},
		{";;; n=v", "v"},
		{"n=v=w", "v=w"},
		{"a=n=x; n=v", "v"},
		{"n=v ; b=1", "v "},
		{"", NULL},
		{"n", NULL},
		{"nn=v", NULL},
		{"xn=v", NULL},
		{"a=\"n=v\"", NULL},
		{"N=v", NULL},
		{"n =v", NULL},
		{";", NULL},
		{"=v", NULL},
		{"n=1234567890", NULL},
		{"n=123456789", "123456789"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char value[10] = "";
		bool found = auth_find_cookie(cases[i].header, "n", value, sizeof value);
		cr_expect_eq(found, cases[i].want != NULL, "%s", cases[i].header);
		if (found && cases[i].want)
			cr_expect_str_eq(value, cases[i].want, "%s: %s", cases[i].header, value);
	}
}
