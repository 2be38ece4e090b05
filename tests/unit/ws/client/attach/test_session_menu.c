/* Visible sessions and their order, and keys after the prefix. */
#include "tests/lib/json_text.h"
#include "ws/client/attach/prefix.h"
#include "ws/client/attach/session_menu.h"

#include <criterion/criterion.h>

static void load(struct session_menu *r, const char *sessions, const char *shown, const char *here)
{
	json_t *answer = json_pack("{s:o}", "sessions", json_of(sessions));
	session_menu_set(r, answer, shown, here);
	json_decref(answer);
}

Test(session_menu_step, steps_through_running_sessions)
{
	struct session_menu r;
	load(&r,
		"[{'id':'a','state':'running'},{'id':'b','state':'exited'},{'state':'running'},7,"
		"{'id':'c','state':'running'},{'id':'d','state':'running'}]",
		"a", "d");
	cr_assert_eq(r.count, 2);
	cr_expect_str_eq(session_menu_step(&r, "a", 1), "c");
	cr_expect_str_eq(session_menu_step(&r, "a", -1), "c");
	cr_expect_str_eq(session_menu_step(&r, "c", 1), "a");
	cr_expect_str_eq(session_menu_step(&r, "gone", 1), "a");
	cr_expect_str_eq(session_menu_step(&r, "gone", -1), "c");
	session_menu_finish(&r);
}

Test(session_menu_step, single_session)
{
	struct session_menu r;
	load(&r, "[{'id':'a','state':'exited'}]", "a", NULL);
	cr_assert_eq(r.count, 1, "the shown session is listed in any state");
	cr_expect_null(session_menu_step(&r, "a", 1));
	session_menu_finish(&r);
	load(&r, "[]", "a", NULL);
	cr_expect_null(session_menu_step(&r, "a", 1));
	session_menu_finish(&r);
}

Test(prefix_action, keys)
{
	cr_expect_eq(prefix_action(2, 'd'), PREFIX_DETACH);
	cr_expect_eq(prefix_action(2, '('), PREFIX_PREVIOUS);
	cr_expect_eq(prefix_action(2, 2), PREFIX_ITSELF);
	cr_expect_eq(prefix_action(2, 1), PREFIX_UNKNOWN);
	cr_expect_eq(prefix_action(2, 0), PREFIX_UNKNOWN);
	cr_expect_eq(prefix_action(2, 0xe6), PREFIX_UNKNOWN);
	cr_expect_eq(prefix_action(2, '\033'), PREFIX_NONE);
	cr_expect_str_eq(prefix_help(0), "d      detach");
	cr_expect_null(prefix_help(100));
}
