#include "shell/session/meta.h"
#include "tests/lib/folder_test.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

TestSuite(meta_load, FOLDER_SUITE);
TestSuite(meta_save, FOLDER_SUITE);

static void forget(struct session *s)
{
	free(s->pane.cwd);
	free(s->pane.shell);
}

Test(meta_save, is_read_back)
{
	static struct session s, back;
	s.created_ms = 1795238220123;
	s.idle_timeout_ms = 60000;
	s.presence.policy = SIZE_OWNER;
	s.on_shell_exit = SHELL_EXIT_RESPAWN;
	strcpy(s.pane.held.id, "main");
	strcpy(s.name, "Caf\xc3\xa9 \"quoted\" \\ </script>");
	s.pane.cwd = (char[]){"/tmp/with \"quotes\"\n"};
	s.pane.shell = (char[]){"/bin/bash"};
	cr_assert_eq(meta_save(folder.fd, &s), 0);
	cr_assert_eq(meta_load(folder.fd, &back), 0);
	cr_assert_str_eq(back.pane.held.id, s.pane.held.id);
	cr_assert_str_eq(back.name, s.name);
	cr_assert_str_eq(back.pane.cwd, s.pane.cwd);
	cr_assert_str_eq(back.pane.shell, s.pane.shell);
	cr_assert_eq(back.created_ms, s.created_ms);
	cr_assert_eq(back.idle_timeout_ms, s.idle_timeout_ms);
	cr_assert_eq(back.presence.policy, SIZE_OWNER);
	cr_assert_eq(back.on_shell_exit, SHELL_EXIT_RESPAWN);
	forget(&back);
}

/* JSON cannot hold it, and a session that the next server cannot read must not start. */
Test(meta_save, invalid_utf8_is_refused)
{
	static struct session s;
	strcpy(s.pane.held.id, "main");
	strcpy(s.name, "main");
	s.pane.cwd = (char[]){"/tmp/\xe9t\xe9"};
	s.pane.shell = (char[]){"bash"};
	cr_assert_eq(meta_save(folder.fd, &s), -EILSEQ);
	cr_assert_eq(faccessat(folder.fd, "meta.json", F_OK, 0), -1);
}

#define META(id, name, created, idle)         \
	"{\"id\":\"" id "\",\"name\":\"" name \
	"\",\"cwd\":\"/\",\"shell\":\"bash\",\"createdAt\":" created ",\"idleTimeoutMs\":" idle "}"

Test(meta_load, unknown_fields_are_ignored)
{
	static struct session s;
	folder_put(&folder, "meta.json",
		"{\"future\":[1],\"id\":\"a\",\"name\":\"b\",\"cwd\":\"/\",\"shell\":\"bash\","
		"\"createdAt\":1,\"idleTimeoutMs\":0}");
	cr_assert_eq(meta_load(folder.fd, &s), 0);
	cr_assert_str_eq(s.pane.held.id, "a");
	forget(&s);
}

/* From an earlier or a later server: the session is adopted all the same. */
Test(meta_load, missing_or_unknown_size_policy_becomes_latest)
{
	static const char *const cases[] = {
		"", ",\"sizePolicy\":\"future\"", ",\"sizePolicy\":\"\""};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		static struct session s;
		char text[256];
		snprintf(text, sizeof text,
			"{\"id\":\"a\",\"name\":\"b\",\"cwd\":\"/\",\"shell\":\"bash\","
			"\"createdAt\":1,\"idleTimeoutMs\":0%s}",
			cases[i]);
		folder_put(&folder, "meta.json", text);
		cr_expect_eq(meta_load(folder.fd, &s), 0, "%s", cases[i]);
		cr_expect_eq(s.presence.policy, SIZE_LATEST);
		forget(&s);
	}
}

Test(meta_load, invalid_values_are_refused)
{
	static const char *const cases[] = {
		"",
		"nonsense",
		"[]",
		"{}",
		"{\"id\":\"a\"}",
		META("../etc", "b", "1", "0"),
		META("", "b", "1", "0"),
		META("a", "", "1", "0"),
		META("a", "\\u001b[31m", "1", "0"),
		META("a", "b", "-1", "0"),
		META("a", "b", "1", "-1"),
		META("a", "b", "\"1\"", "0"),
		META("a", "b", "1e99", "0"),
		META("a", "b", "99999999999999999999", "0"),
		(META("a", "b", "1", "0") "x"),
		META("a", "b", "1", "0,\"sizePolicy\":1"),
		("{\"id\":\"a\",\"id\":\"b\",\"name\":\"b\",\"cwd\":\"/\",\"shell\":\"x\","
		 "\"createdAt\":1,\"idleTimeoutMs\":0}"),
		"{\"id\":1,\"name\":\"b\",\"cwd\":\"/\",\"shell\":\"x\",\"createdAt\":1,\"idleTimeoutMs\":0}",
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		static struct session s;
		folder_put(&folder, "meta.json", cases[i]);
		cr_expect_eq(meta_load(folder.fd, &s), -EBADMSG, "%s", cases[i]);
		cr_expect_null(s.pane.cwd);
	}
}

Test(meta_load, missing_file)
{
	static struct session s;
	cr_assert_eq(meta_load(folder.fd, &s), -ENOENT);
}

Test(meta_load, file_that_is_too_large)
{
	static struct session s;
	char *text = calloc(1, 100001);
	memset(text, ' ', 100000);
	folder_put(&folder, "meta.json", text);
	cr_assert_lt(meta_load(folder.fd, &s), 0);
	free(text);
}
