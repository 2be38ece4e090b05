#include "tests/lib/json_text.h"
#include "ws/json/session.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

static struct session s;
static char cwd[] = "/tmp", shell[] = "bash";

static void set_up(void)
{
	s = (struct session){.pane.rows = 24,
		.pane.cols = 80,
		.created_ms = 1795238220123,
		.state = SESSION_RUNNING};
	strcpy(s.pane.held.id, "main");
	strcpy(s.name, "Main");
	s.pane.cwd = cwd;
	s.pane.shell = shell;
}

Test(signal_parse, table)
{
	cr_expect_eq(signal_parse("INT"), SIGINT);
	cr_expect_eq(signal_parse("SIGINT"), SIGINT);
	cr_expect_eq(signal_parse("KILL"), SIGKILL);
	cr_expect_eq(signal_parse("int"), -1);
	cr_expect_eq(signal_parse("SIG"), -1);
	cr_expect_eq(signal_parse(""), -1);
	cr_expect_eq(signal_parse("SIGSIGINT"), -1);
	cr_expect_eq(signal_parse("9"), -1);
}

Test(time_json, zero_is_null)
{
	json_expect(time_json(0), "null");
	json_expect(time_json(1795238220123), "'2026-11-21T05:17:00.123Z'");
}

Test(session_json, running_session, .init = set_up)
{
	json_t *o = session_json(&s);
	json_has(o,
		"{'id':'main','name':'Main','state':'running','cols':80,'sizePolicy':'latest','exit':null}",
		"a running session");
	json_decref(o);
}

static void expect_exit(enum session_end end, int status, const char *want)
{
	s.state = SESSION_EXITED;
	s.end = end;
	s.exit_status = status;
	json_expect(session_exit_json(&s), want);
}

Test(session_exit_json, kinds_of_ends, .init = set_up)
{
	s.pane.history.end_offset = 7;
	expect_exit(SESSION_END_EXITED, 0, "{'code':0,'signal':null,'reason':'exited','offset':7}");
	expect_exit(SESSION_END_EXITED, 3 << 8,
		"{'code':3,'signal':null,'reason':'exited','offset':7}");
	expect_exit(SESSION_END_SIGNAL, SIGKILL,
		"{'code':null,'signal':'KILL','reason':'signal','offset':7}");
	expect_exit(SESSION_END_HOLDER_DIED, 0,
		"{'code':null,'signal':null,'reason':'holder_died','offset':7}");
}
