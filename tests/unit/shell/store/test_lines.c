#include "shell/store/file.h"
#include "shell/store/lines.h"
#include "tests/lib/folder_test.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

TestSuite(lines_append, FOLDER_SUITE);
TestSuite(lines_retry, FOLDER_SUITE);
TestSuite(lines_load, FOLDER_SUITE);

/* The lines to keep: numbers from first to last, and perhaps one without memory. */
struct wanted {
	int first, last;
	bool fails;
	unsigned written;
};

static void put_wanted(void *user, struct lines_writer *w)
{
	struct wanted *wanted = user;
	wanted->written++;
	for (int i = wanted->first; i <= wanted->last; i++)
		lines_put(w, json_pack("[i]", i));
	if (wanted->fails)
		lines_put(w, NULL);
}

static const struct lines_kind small = {
	.name = "small", .max = 100, .compact = 12, .tell = put_wanted};
static const struct lines_kind doubled = {
	.name = "doubled", .max = 1000, .compact = 12, .doubled = true, .tell = put_wanted};

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

Test(lines_append, adds_a_line_at_the_end)
{
	struct lines l = {0};
	struct wanted wanted = {1, 0};
	cr_assert_eq(lines_append(&l, &small, folder.fd, json_pack("[i]", 1), &wanted), 0);
	cr_assert_eq(lines_append(&l, &small, folder.fd, json_pack("[s]", "\n"), &wanted), 0);
	expect_file("small", "[1]\n[\"\\n\"]\n");
}

Test(lines_append, long_file_is_written_anew)
{
	struct lines l = {0};
	struct wanted wanted = {3, 4};
	for (int i = 1; i <= 3; i++)
		cr_assert_eq(lines_append(&l, &small, folder.fd, json_pack("[i]", i), &wanted), 0);
	cr_expect_eq(wanted.written, 0, "12 bytes are few enough");
	cr_assert_eq(lines_append(&l, &small, folder.fd, json_pack("[i]", 4), &wanted), 0);
	cr_expect_eq(wanted.written, 1);
	expect_file("small", "[3]\n[4]\n");
}

Test(lines_append, doubled_file_is_written_anew)
{
	struct lines l = {0};
	struct wanted wanted = {1, 4};
	for (int i = 1; i <= 4; i++)
		cr_assert_eq(lines_append(&l, &doubled, folder.fd, json_pack("[i]", i), &wanted), 0);
	cr_expect_eq(wanted.written, 1);
	cr_expect_eq(l.compacted, 16);
	for (int i = 5; i <= 8; i++)
		cr_assert_eq(lines_append(&l, &doubled, folder.fd, json_pack("[i]", i), &wanted), 0);
	cr_expect_eq(wanted.written, 1, "32 bytes are twice 16");
	cr_assert_eq(lines_append(&l, &doubled, folder.fd, json_pack("[i]", 9), &wanted), 0);
	cr_expect_eq(wanted.written, 2);
}

Test(lines_append, after_a_failure_the_file_is_written_anew)
{
	struct lines l = {0};
	struct wanted wanted = {1, 2};
	cr_expect_eq(lines_append(&l, &small, -1, json_pack("[i]", 1), &wanted), -EBADF);
	cr_expect(l.behind);
	cr_assert_eq(lines_append(&l, &small, folder.fd, json_pack("[i]", 2), &wanted), 0);
	cr_expect_not(l.behind);
	expect_file("small", "[1]\n[2]\n");
}

Test(lines_append, no_memory_for_a_line)
{
	struct lines l = {0};
	struct wanted wanted = {1, 1};
	cr_expect_eq(lines_append(&l, &small, folder.fd, NULL, &wanted), -ENOMEM);
	cr_expect(l.behind);
}

Test(lines_retry, only_after_a_failure)
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

Test(lines_retry, incomplete_file_is_not_written)
{
	struct lines l = {.behind = true};
	struct wanted wanted = {5, 6, .fails = true};
	int rc = 0;
	folder_put(&folder, "small", "[1]\n");
	cr_expect(lines_retry(&l, &small, folder.fd, &wanted, &rc));
	cr_expect_eq(rc, -ENOMEM);
	cr_expect(l.behind);
	expect_file("small", "[1]\n");
}

Test(lines_load, invalid_lines_are_skipped)
{
	char got[200] = "";
	folder_put(&folder, "small", "[1]\n\n{\"a\":\n[2]\nnonsense\n{}\n");
	lines_load(&(struct lines){0}, &small, folder.fd, on_line, got);
	cr_expect_str_eq(got, "[1];[2];{};");
}

Test(lines_load, torn_line_does_not_damage_the_next)
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

Test(lines_load, missing_or_too_long_file)
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
