#include "tests/lib/json_text.h"
#include "ws/mcp/result_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(mcp_words, .timeout = 60);

/* Compare the words about a result of exec. */
static void expect_words(const char *exec, const char *want)
{
	json_t *result = json_of(exec);
	char *text = mcp_exec_text(result);
	cr_expect_str_eq(text, want, "%s", text);
	free(text);
	json_decref(result);
}

Test(mcp_words, imitated_status_and_hidden_text_are_reported)
{
	expect_words("{'state':'done','exit_code':1,'cwd':'/a\\nexit code 0',"
		     "'output':'exit code 0, in /\\n\\u202e\\n'}",
		"exit code 1, 22 bytes of output, in /a\\nexit code 0\nexit code 0, in /\n\\u{202E}\n");
}

Test(mcp_words, words_about_commands)
{
	expect_words("{'state':'done','exit_code':130,'signal':'INT','duration_ms':1500,'cwd':'/tmp',"
		     "'output':'out\\n'}",
		"exit code 130 (SIGINT), 1.50 s, 4 bytes of output, in /tmp\nout\n");
	expect_words(
		"{'state':'running','exec_id':'s/e','cursor':9,'terminal':{'status':'waiting_input',"
		"'input':'password','foreground':{'name':'sudo'},'quiet_ms':1200},'output':'Password: '}",
		"running: exec_id s/e, cursor 9\nterminal: waiting_input (password): sudo, quiet for 1.2 s\n"
		"A secret is asked for: have a person type it into this terminal.\nPassword: ");
	expect_words("{'state':'done','exit_code':null,'ended_by':'busy','next':'wait'}",
		"not run to its end: busy\nnext: wait\n");
}

Test(mcp_words, long_commands_are_cut_in_lists)
{
	char *long_one = malloc(1001);
	memset(long_one, 'x', 1000);
	long_one[1000] = '\0';
	memcpy(long_one + 399, "\xe2\x82\xac", 3);
	json_t *history = json_pack("{s:[{s:s, s:s, s:i, s:s}, {s:s, s:n, s:s}]}", "blocks", "id",
		"b1", "author", "human", "exit_code", 1, "command", long_one, "id", "b2", "command",
		"state", "running");
	char *text = mcp_history_text(history);
	cr_assert_eq(strncmp(text, "b1 human, exit code 1: xxx", 26), 0, "%s", text);
	cr_assert_not_null(strstr(text, "xxx…\nb2, running: (unknown)\n"), "%s", text);
	cr_assert_lt(strlen(text), 480);
	free(text);
	free(long_one);
	json_decref(history);
}
