#include "shell/store/file.h"
#include "shell/store/lines.h"
#include "tests/lib/folder.h"
#include "tests/lib/leak.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static struct folder folder;

static void set_up(void)
{
	folder_make(&folder);
}

static void tear_down(void)
{
	folder_remove(&folder);
}

TestSuite(lines_append, .init = set_up, .fini = tear_down);
TestSuite(lines_retry, .init = set_up, .fini = tear_down);
TestSuite(lines_load, .init = set_up, .fini = tear_down);

/* What is still wanted: numbers from first to last, and perhaps one that there is no memory for. */
struct wanted {
	int first, last;
	bool fails;
	unsigned told;
};

static void tell(void *user, struct lines_writer *w)
{
	struct wanted *wanted = user;
	wanted->told++;
	for (int i = wanted->first; i <= wanted->last; i++)
		lines_put(w, json_pack("[i]", i));
	if (wanted->fails)
		lines_put(w, NULL);
}

static const struct lines_kind small = {.name = "small", .max = 100, .compact = 12, .tell = tell};
static const struct lines_kind doubled = {
	.name = "doubled", .max = 1000, .compact = 12, .doubled = true, .tell = tell};

static void expect_file(const char *name, const char *want)
{
	char *text;
	size_t length;
	cr_assert_eq(file_load(folder.fd, name, 1000, &text, &length), 0);
	cr_expect_str_eq(text, want);
	free(text);
}

static void on_line(void *user, json_t *line)
{
	char *dump = json_dumps(line, JSON_COMPACT);
	strcat(user, dump);
	strcat(user, ";");
	free(dump);
}

Test(lines_append, puts_each_behind_the_others)
{
	struct lines l = {0};
	struct wanted wanted = {1, 0};
	cr_assert_eq(lines_append(&l, &small, folder.fd, json_pack("[i]", 1), &wanted), 0);
	cr_assert_eq(lines_append(&l, &small, folder.fd, json_pack("[s]", "\n"), &wanted), 0);
	expect_file("small", "[1]\n[\"\\n\"]\n");
	ASSERT_NO_LEAKS();
}

Test(lines_append, one_that_has_grown_long_is_written_anew)
{
	struct lines l = {0};
	struct wanted wanted = {3, 4};
	for (int i = 1; i <= 3; i++)
		cr_assert_eq(lines_append(&l, &small, folder.fd, json_pack("[i]", i), &wanted), 0);
	cr_expect_eq(wanted.told, 0, "12 bytes are not too many");
	cr_assert_eq(lines_append(&l, &small, folder.fd, json_pack("[i]", 4), &wanted), 0);
	cr_expect_eq(wanted.told, 1);
	expect_file("small", "[3]\n[4]\n");
	ASSERT_NO_LEAKS();
}

Test(lines_append, or_when_it_has_doubled)
{
	struct lines l = {0};
	struct wanted wanted = {1, 4};
	for (int i = 1; i <= 4; i++)
		cr_assert_eq(lines_append(&l, &doubled, folder.fd, json_pack("[i]", i), &wanted), 0);
	cr_expect_eq(wanted.told, 1);
	cr_expect_eq(l.compacted, 16);
	for (int i = 5; i <= 8; i++)
		cr_assert_eq(lines_append(&l, &doubled, folder.fd, json_pack("[i]", i), &wanted), 0);
	cr_expect_eq(wanted.told, 1, "32 bytes are twice 16");
	cr_assert_eq(lines_append(&l, &doubled, folder.fd, json_pack("[i]", 9), &wanted), 0);
	cr_expect_eq(wanted.told, 2);
	ASSERT_NO_LEAKS();
}

Test(lines_append, a_failure_leaves_it_behind_until_all_is_written_anew)
{
	struct lines l = {0};
	struct wanted wanted = {1, 2};
	cr_expect_eq(lines_append(&l, &small, -1, json_pack("[i]", 1), &wanted), -EBADF);
	cr_expect(l.behind);
	cr_assert_eq(lines_append(&l, &small, folder.fd, json_pack("[i]", 2), &wanted), 0);
	cr_expect_not(l.behind);
	expect_file("small", "[1]\n[2]\n");
	ASSERT_NO_LEAKS();
}

Test(lines_append, no_memory_for_a_line)
{
	struct lines l = {0};
	struct wanted wanted = {1, 1};
	cr_expect_eq(lines_append(&l, &small, folder.fd, NULL, &wanted), -ENOMEM);
	cr_expect(l.behind);
}

Test(lines_retry, only_what_is_behind)
{
	struct lines l = {0};
	struct wanted wanted = {1, 2};
	int rc = 7;
	cr_expect_not(lines_retry(&l, &small, folder.fd, &wanted, &rc));
	cr_expect_eq(rc, 7);
	l.behind = true;
	cr_expect(lines_retry(&l, &small, -1, &wanted, &rc));
	cr_expect_eq(rc, -EBADF);
	cr_expect(l.behind);
	cr_expect(lines_retry(&l, &small, folder.fd, &wanted, &rc));
	cr_expect_eq(rc, 0);
	cr_expect_not(l.behind);
	expect_file("small", "[1]\n[2]\n");
}

Test(lines_retry, half_of_it_is_not_written)
{
	struct lines l = {.behind = true};
	struct wanted wanted = {5, 6, .fails = true};
	int rc = 0;
	folder_put(&folder, "small", "[1]\n");
	cr_expect(lines_retry(&l, &small, folder.fd, &wanted, &rc));
	cr_expect_eq(rc, -ENOMEM);
	cr_expect(l.behind);
	expect_file("small", "[1]\n");
	ASSERT_NO_LEAKS();
}

Test(lines_load, leaves_out_what_makes_no_sense)
{
	char got[200] = "";
	folder_put(&folder, "small", "[1]\n\n{\"a\":\n[2]\nnonsense\n{}\n");
	lines_load(&(struct lines){0}, &small, folder.fd, on_line, got);
	cr_expect_str_eq(got, "[1];[2];{};");
	ASSERT_NO_LEAKS();
}

Test(lines_load, a_torn_line_does_not_spoil_the_next)
{
	struct lines l = {0};
	struct wanted wanted = {1, 0};
	char before[200] = "", after[200] = "";
	folder_put(&folder, "doubled", "[1]\n{\"to");
	lines_load(&(struct lines){0}, &doubled, folder.fd, on_line, before);
	cr_expect_str_eq(before, "[1];");
	l.compacted = 100;
	cr_assert_eq(lines_append(&l, &doubled, folder.fd, json_pack("[i]", 2), &wanted), 0);
	lines_load(&(struct lines){0}, &doubled, folder.fd, on_line, after);
	cr_expect_str_eq(after, "[1];[2];");
	expect_file("doubled", "[1]\n{\"to\n[2]\n");
}

Test(lines_load, one_that_is_missing_or_too_long)
{
	char got[200] = "", text[102];
	lines_load(&(struct lines){0}, &small, folder.fd, on_line, got);
	memset(text, '\n', 101);
	memcpy(text, "[1]", 3);
	text[101] = '\0';
	folder_put(&folder, "small", text);
	lines_load(&(struct lines){0}, &small, folder.fd, on_line, got);
	cr_expect_str_eq(got, "");
}
