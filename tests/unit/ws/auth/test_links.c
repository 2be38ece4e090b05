#include "shell/own_error.h"
#include "tests/lib/folder.h"
#include "ws/auth/links.h"
#include "ws/auth/token.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define NOW UINT64_C(1795238220123)
#define HOUR UINT64_C(3600000)

static const unsigned char key[LINKS_KEY_SIZE] = "0123456789abcdef0123456789abcdef";
static struct folder folder;
static struct links l;
static struct link_entry entry; /* of the last link */
static char *token;             /* its text */

static void set_up(void)
{
	folder_make(&folder);
	cr_assert_eq(links_open(&l, NULL, folder.fd, key), 0);
}

static void tear_down(void)
{
	links_close(&l);
	folder_remove(&folder);
	free(token);
}

TestSuite(links_issue, .init = set_up, .fini = tear_down);
TestSuite(links_store, .init = set_up, .fini = tear_down);
TestSuite(links_check, .init = set_up, .fini = tear_down);
TestSuite(links_revoke, .init = set_up, .fini = tear_down);
TestSuite(links_prune, .init = set_up, .fini = tear_down);
TestSuite(links_register, .init = set_up, .fini = tear_down);

static struct link_entry fresh(const char *session, enum role role)
{
	struct link_entry e = {
		.role = role, .epoch = UINT64_C(0xfedcba9876543210), .expires_ms = NOW + HOUR};
	strcpy(e.session, session);
	strcpy(e.name, "Zo\xc3\xab");
	return e;
}

static char *issue_to(const char *session, enum role role, struct link_entry *ret_entry)
{
	char *issued = NULL;
	*ret_entry = fresh(session, role);
	cr_assert_eq(links_issue(&l, ret_entry, NOW, &issued), 0);
	links_store(&l, NULL, NULL);
	return issued;
}

static void issue(const char *session, enum role role)
{
	free(token);
	token = issue_to(session, role, &entry);
}

static void reopen(void)
{
	links_close(&l);
	cr_assert_eq(links_open(&l, NULL, folder.fd, key), 0);
}

Test(links_issue, fills_in_id_and_time)
{
	issue("main", ROLE_VIEWER);
	cr_assert_eq(strlen(entry.id), LINK_ID_SIZE - 1);
	cr_assert_eq(strspn(entry.id, "0123456789abcdef"), LINK_ID_SIZE - 1);
	cr_assert_eq(entry.created_ms, NOW);
	cr_assert_not_null(links_find(&l, entry.id));
	cr_assert_null(links_find(&l, ""));
}

Test(links_issue, ids_differ)
{
	struct link_entry a, b;
	free(issue_to("main", ROLE_VIEWER, &a));
	free(issue_to("main", ROLE_VIEWER, &b));
	cr_assert_str_neq(a.id, b.id);
}

Test(links_issue, too_many, .timeout = 30)
{
	struct link_entry e = fresh("main", ROLE_VIEWER);
	l.count = LINKS_MAX;
	for (size_t i = 0; i < LINKS_MAX; i++)
		l.entries[i] = e;
	cr_assert_eq(links_issue(&l, &e, NOW, &token), -ERR_LIMIT);
	cr_assert_null(token);
	/* Expired links do not count. */
	for (size_t i = 0; i < LINKS_MAX; i++)
		l.entries[i].expires_ms = NOW;
	cr_assert_eq(links_issue(&l, &e, NOW, &token), 0);
	cr_assert_eq(l.count, 1);
}

static void on_stored(void *user, int error)
{
	*(int *)user = error;
}

Test(links_store, failure_is_reported)
{
	struct link_entry e = fresh("main", ROLE_VIEWER);
	int error = 1;
	cr_assert_eq(links_issue(&l, &e, NOW, &token), 0);
	cr_assert_eq(mkdirat(folder.fd, "links.json.new", 0700), 0);
	links_store(&l, on_stored, &error);
	cr_assert_lt(error, 0);
	cr_assert_eq(unlinkat(folder.fd, "links.json.new", AT_REMOVEDIR), 0);
	links_store(&l, on_stored, &error);
	cr_assert_eq(error, 0);
}

Test(links_store, passing_link_is_lost_at_a_restart)
{
	struct link_entry e = fresh("main", ROLE_VIEWER);
	e.passing = true;
	cr_assert_eq(links_issue(&l, &e, NOW, &token), 0);
	cr_assert_not_null(links_check(&l, token, NOW));
	links_store(&l, NULL, NULL);
	reopen();
	cr_assert_null(links_check(&l, token, NOW));
}

Test(links_check, accepts_issued_links)
{
	issue("main", ROLE_DRIVER);
	const struct link_entry *found = links_check(&l, token, NOW);
	cr_assert_not_null(found);
	cr_assert_str_eq(found->session, "main");
	cr_assert_eq(found->role, ROLE_DRIVER);
	cr_assert_eq(found->epoch, entry.epoch);
}

Test(links_check, single_use_link_is_spent)
{
	char *once, *often;
	struct link_entry a = fresh("a", ROLE_VIEWER), b = fresh("b", ROLE_DRIVER);
	a.answers = a.passing = true;
	cr_assert_eq(links_issue(&l, &a, NOW, &once), 0);
	cr_assert_eq(links_issue(&l, &b, NOW, &often), 0);
	cr_expect(links_check(&l, once, NOW));
	links_mark_used(&l, a.id);
	links_mark_used(&l, b.id);
	links_mark_used(&l, "unknown");
	cr_expect_null(links_check(&l, once, NOW));
	cr_expect(links_find(&l, a.id), "logins made with it stay");
	cr_expect(links_check(&l, often, NOW));
	free(once);
	free(often);
}

Test(links_check, expired)
{
	issue("main", ROLE_DRIVER);
	cr_assert_not_null(links_check(&l, token, NOW + HOUR - 2000));
	cr_assert_null(links_check(&l, token, NOW + HOUR));
}

Test(links_check, valid_up_to_its_last_millisecond)
{
	issue("demo", ROLE_VIEWER);
	cr_assert_neq(entry.expires_ms % 1000, 0, "NOW is no whole second");
	cr_expect(links_check(&l, token, entry.expires_ms - 1));
	cr_expect_null(links_check(&l, token, entry.expires_ms));
}

Test(links_check, token_of_another_key)
{
	struct link_entry e;
	free(issue_to("main", ROLE_DRIVER, &e));
	token = token_sign(e.id, NOW / 1000 + 100,
		(const unsigned char *)"another key that is 32 bytes....", 32);
	cr_assert_null(links_check(&l, token, NOW));
}

Test(links_check, signed_but_unregistered)
{
	token = token_sign("00000000000000000000000000000000", NOW / 1000 + 100, key, sizeof key);
	cr_assert_null(links_check(&l, token, NOW));
}

Test(links_revoke, takes_effect_at_once_and_after_a_restart)
{
	struct link_entry a, b;
	char *first = issue_to("main", ROLE_DRIVER, &a), *second = issue_to("main", ROLE_VIEWER, &b);
	cr_assert_eq(links_revoke(&l, a.id), 0);
	cr_assert_null(links_check(&l, first, NOW));
	cr_assert_not_null(links_check(&l, second, NOW));
	links_store(&l, NULL, NULL);
	reopen();
	cr_assert_null(links_check(&l, first, NOW));
	cr_assert_not_null(links_check(&l, second, NOW));
	free(first);
	free(second);
}

Test(links_revoke, unknown_id)
{
	cr_assert_eq(links_revoke(&l, "nothing"), -ENOENT);
	cr_assert_eq(links_revoke(&l, ""), -ENOENT);
}

Test(links_prune, links_of_deleted_sessions)
{
	struct link_entry a, b;
	free(issue_to("one", ROLE_DRIVER, &a));
	free(issue_to("two", ROLE_DRIVER, &b));
	links_prune(&l, NOW, "one");
	cr_assert_null(links_find(&l, a.id));
	cr_assert_not_null(links_find(&l, b.id));
	reopen();
	cr_assert_null(links_find(&l, a.id));
}

Test(links_prune, expired_links)
{
	struct link_entry a;
	free(issue_to("one", ROLE_DRIVER, &a));
	links_prune(&l, NOW + HOUR - 1, NULL);
	cr_assert_eq(l.count, 1);
	links_prune(&l, NOW + HOUR, NULL);
	cr_assert_eq(l.count, 0);
}

Test(links_register, keeps_every_field)
{
	struct link_entry a;
	free(issue_to("main", ROLE_VIEWER, &a));
	reopen();
	const struct link_entry *e = links_find(&l, a.id);
	cr_assert_not_null(e);
	cr_assert_str_eq(e->session, "main");
	cr_assert_str_eq(e->name, "Zo\xc3\xab");
	cr_assert_eq(e->role, ROLE_VIEWER);
	cr_assert_eq(e->epoch, a.epoch);
	cr_assert_eq(e->created_ms, NOW);
	cr_assert_eq(e->expires_ms, NOW + HOUR);
}

Test(links_register, does_not_have_the_tokens)
{
	struct link_entry a;
	struct stat st;
	char text[4096] = "";
	token = issue_to("main", ROLE_VIEWER, &a);
	int fd = openat(folder.fd, "links.json", O_RDONLY);
	cr_assert_gt(read(fd, text, sizeof text - 1), 0);
	cr_assert_eq(fstat(fd, &st), 0);
	close(fd);
	cr_assert_eq(st.st_mode & 0777, 0600);
	cr_assert_null(strstr(text, token));
}

#define ENTRY(id, session, role)                           \
	"{\"id\":\"" id "\",\"session\":\"" session        \
	"\",\"epoch\":\"00000000000000ff\",\"role\":" role \
	",\"name\":\"n\",\"created\":1,\"expires\":9999999999999}"

Test(links_register, invalid_entries_are_skipped)
{
	folder_put(&folder, "links.json",
		"[" ENTRY("good", "main", "0") "," ENTRY("owner", "main", "2") "," ENTRY(
			"bad", "../x", "0") "," ENTRY("neg", "main",
			"-1") "," ENTRY("123456789012345678901234567890123", "main",
			"0") ",{},1,null," ENTRY("also", "two", "1") "]");
	reopen();
	cr_assert_eq(l.count, 2);
	cr_assert_eq(links_find(&l, "good")->epoch, 255);
	cr_assert_eq(links_find(&l, "also")->role, ROLE_DRIVER);
}

Test(links_register, damaged_file_is_an_empty_register)
{
	static const char *const cases[] = {"", "{", "{}", "nonsense", "[", "null", "\xff"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		folder_put(&folder, "links.json", cases[i]);
		reopen();
		cr_expect_eq(l.count, 0);
	}
}

Test(links_open, unreadable_register_is_an_error)
{
	struct links links;
	folder_make(&folder);
	cr_assert_eq(mkdirat(folder.fd, "links.json", 0700), 0);
	cr_assert_lt(links_open(&links, NULL, folder.fd, key), 0);
	links = (struct links){0};
	folder_remove(&folder);
}
