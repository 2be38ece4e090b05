#include "tests/lib/folder.h"
#include "ws/auth/logins.h"

#include <criterion/criterion.h>
#include <string.h>

#define NOW UINT64_C(1795238220123)
#define HOUR UINT64_C(3600000)

static struct folder folder;
static struct logins l;
static char value[LOGIN_VALUE_SIZE];

static void set_up(void)
{
	folder_make(&folder);
	cr_assert_eq(logins_open(&l, NULL, folder.fd), 0);
}

static void tear_down(void)
{
	logins_close(&l);
	folder_remove(&folder);
}

TestSuite(logins, .init = set_up, .fini = tear_down);

/* Add a login of this link, or of the owner (""), made at this time. */
static const char *add(const char *link, uint64_t at_ms)
{
	struct login_entry e = {.created_ms = at_ms, .expires_ms = at_ms + HOUR, .agent = "A\nB"};
	snprintf(e.link, sizeof e.link, "%s", link);
	snprintf(e.owner, sizeof e.owner, "%s", *link ? "" : "owner");
	const struct login_entry *added = logins_add(&l, &e, value);
	cr_assert_not_null(added);
	return added->id;
}

static void reopen(void)
{
	logins_store(&l, NULL, NULL);
	logins_close(&l);
	cr_assert_eq(logins_open(&l, NULL, folder.fd), 0);
}

Test(logins, cookie_is_valid_until_removed_or_expired)
{
	char id[LOGIN_ID_SIZE];
	snprintf(id, sizeof id, "%s", add("", NOW));
	reopen();
	const struct login_entry *e = logins_use(&l, value, NOW + 5);
	cr_assert_not_null(e);
	cr_assert_eq(e->used_ms, NOW + 5);
	cr_assert_str_eq(e->agent, "A?B");
	cr_assert_null(logins_use(&l, value, NOW + HOUR));
	value[LOGIN_VALUE_SIZE - 2] ^= 1;
	cr_assert_null(logins_use(&l, value, NOW));
	value[LOGIN_VALUE_SIZE - 2] ^= 1;
	cr_assert(logins_remove(&l, id));
	cr_assert_not(logins_remove(&l, id));
	cr_assert_null(logins_use(&l, value, NOW));
	reopen();
	cr_assert_null(logins_use(&l, value, NOW));
}

Test(logins, file_does_not_have_the_cookies)
{
	char text[4096] = "";
	add("", NOW);
	logins_store(&l, NULL, NULL);
	int fd = openat(folder.fd, "logins.json", O_RDONLY);
	cr_assert_gt(read(fd, text, sizeof text - 1), 0);
	close(fd);
	cr_assert_null(strstr(text, value + LOGIN_ID_SIZE));
}

Test(logins, limit_of_a_link_removes_its_own_logins)
{
	char first[LOGIN_VALUE_SIZE], owner[LOGIN_VALUE_SIZE];
	add("", NOW);
	memcpy(owner, value, sizeof owner);
	add("link", NOW);
	memcpy(first, value, sizeof first);
	for (unsigned i = 1; i < LOGINS_OF_LINK; i++)
		add("link", NOW + i);
	cr_assert_not_null(logins_use(&l, first, NOW));
	add("link", NOW + 100);
	cr_assert_eq(l.count, 1 + LOGINS_OF_LINK);
	cr_assert_null(logins_use(&l, first, NOW), "the least recently used login is removed");
	cr_assert_not_null(logins_use(&l, owner, NOW));
}

Test(logins, number_is_limited)
{
	char link[20];
	for (unsigned i = 0; i < LOGINS_OF_LINKS + 10; i++) {
		snprintf(link, sizeof link, "link%u", i);
		add(link, NOW + i);
	}
	cr_assert_eq(l.count, LOGINS_OF_LINKS);
	for (unsigned i = 0; i < LOGINS_OF_OWNER + 10; i++)
		add("", NOW + i);
	cr_assert_eq(l.count, LOGINS_MAX);
	reopen();
	cr_assert_eq(l.count, LOGINS_MAX, "the file holds them all");
}

struct outcome {
	unsigned times;
	int error;
};

static void on_stored(void *user, int error)
{
	struct outcome *o = user;
	o->times++;
	o->error = error;
}

Test(logins, callback_comes_after_the_write)
{
	uv_loop_t loop;
	struct logins other;
	struct outcome outcomes[3] = {0};
	uv_loop_init(&loop);
	logins_close(&l);
	cr_assert_eq(logins_open(&l, &loop, folder.fd), 0);
	for (unsigned i = 0; i < 3; i++) {
		add("", NOW + i);
		logins_store(&l, on_stored, &outcomes[i]);
		cr_assert_eq(outcomes[i].times, 0, "never from inside of the call");
	}
	uv_run(&loop, UV_RUN_DEFAULT);
	for (unsigned i = 0; i < 3; i++)
		cr_assert(outcomes[i].times == 1 && outcomes[i].error == 0);
	cr_assert_eq(logins_open(&other, NULL, folder.fd), 0);
	cr_assert_eq(other.count, 3);
	logins_close(&other);
	cr_assert_eq(mkdirat(folder.fd, "logins.json.new", 0700), 0);
	logins_store(&l, on_stored, &outcomes[0]);
	uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(outcomes[0].times, 2);
	cr_assert_lt(outcomes[0].error, 0);
	cr_assert_eq(uv_loop_close(&loop), 0);
}
