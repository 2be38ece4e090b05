/* The status line, and changes of the terminal's modes. */
#include "tests/lib/json_text.h"
#include "ws/client/attach/modes.h"
#include "ws/client/attach/status.h"

#include <criterion/criterion.h>
#include <string.h>

static bool receive(struct status *s, bool event, const char *text)
{
	json_t *message = json_of(text);
	bool changed = event ? status_handle_event(s, message) : status_handle_message(s, message);
	json_decref(message);
	return changed;
}

static void expect_line(const struct status *s, const char *line)
{
	char text[STATUS_TEXT_MAX];
	status_line(s, "C-\\", text);
	cr_expect_str_eq(text, line, "%s", text);
}

Test(status_line, shows_the_messages)
{
	struct status s = {.needing = 0};
	status_begin(&s, "anna");
	expect_line(&s, " anna");
	cr_expect(receive(&s, false, "{'type':'attached','clientId':7}"));
	cr_expect(receive(&s, false,
		"{'type':'presence','clients':[{'id':7,'name':'me'},{'id':8,'name':'bob'},"
		"{'id':9,'name':'eve'},3]}"));
	cr_expect(receive(&s, false, "{'type':'state','name':'work'}"));
	cr_expect(receive(&s, false, "{'type':'lease','lease':{'owner':'robot'}}"));
	cr_expect(receive(&s, false, "{'type':'drain','draining':true}"));
	cr_expect_not(receive(&s, false, "{'type':'pong'}"));
	cr_expect(receive(&s, true,
		"{'type':'sessions','sessions':[{'id':'anna','state':'running','activity':"
		"{'status':'running','foreground':{'name':'make'},'bells':1}},"
		"{'id':'b','state':'running','activity':{'status':'stopped'}},{'id':7},null]}"));
	expect_line(&s,
		" anna (work) | the server is being drained | make | 1 other needs you | robot has the "
		"keyboard | with bob, eve, ");
	cr_expect_not(s.rung);
	receive(&s, true,
		"{'type':'activity','activities':[{'id':'anna','activity':{'status':'prompt',"
		"'bells':2}},{'id':'b','activity':null},{'id':'gone','activity':{}}]}");
	cr_expect(s.rung);
	s.away = true;
	expect_line(&s, " anna (work) | the server is away; trying again; leave with C-\\");
	status_begin(&s, "b");
	cr_expect_eq(s.needing, 0);
	status_finish(&s);
}

Test(status_line, long_line_is_cut)
{
	struct status s = {.needing = 0};
	char name[4096], text[STATUS_TEXT_MAX];
	memset(name, 'n', sizeof name);
	name[sizeof name - 1] = '\0';
	status_begin(&s, name);
	json_t *state = json_pack("{s:s, s:s}", "type", "state", "name", name);
	json_t *lease = json_pack("{s:s, s:{s:s}}", "type", "lease", "lease", "owner", name);
	json_t *people = json_pack("{s:s, s:[{s:i, s:s}, {s:i, s:s}]}", "type", "presence",
		"clients", "id", 1, "name", name, "id", 2, "name", name);
	cr_expect(status_handle_message(&s, state) && status_handle_message(&s, lease) &&
		status_handle_message(&s, people));
	status_line(&s, "", text);
	cr_expect_lt(strlen(text), STATUS_TEXT_MAX);
	json_decref(state);
	json_decref(lease);
	json_decref(people);
	status_finish(&s);
}

static struct modes read_modes(const char *text)
{
	json_t *answer = json_of(text);
	struct modes m = modes_of(answer);
	json_decref(answer);
	return m;
}

static void expect_change(const struct modes *from, const struct modes *to, const char *bytes)
{
	struct canvas c = {0};
	modes_write_changes(&c, from, to);
	canvas_bytes(&c, "", 1);
	cr_expect_str_eq(c.bytes, bytes);
	canvas_finish(&c);
}

Test(modes_write_changes, only_different_modes)
{
	static const struct modes none;
	const struct modes m = read_modes(
		"{'modes':{'applicationCursor':true,'bracketedPaste':true,'focus':true,"
		"'kittyKeyboard':5,'mouse':'drag','mouseEncoding':'sgr'},"
		"'cursor':{'style':'bar','blink':false}}");
	expect_change(&none, &m,
		"\033[?1h\033[?2004h\033[?1004h\033[=5;1u\033[?1006h\033[?1002h\033[6 q");
	expect_change(&m, &m, "");
	expect_change(&m, &none,
		"\033[?1l\033[?2004l\033[?1004l\033[=0;1u\033[?1002l\033[?1006l\033[0 q");
}

Test(modes_of, missing_modes_are_off)
{
	static const struct modes none;
	const struct modes m = read_modes(
		"{'modes':{'applicationCursor':1,'kittyKeyboard':4711,'modifyOtherKeys':-3,"
		"'mouse':'\\u001b[2J','mouseEncoding':7},'cursor':[]}");
	expect_change(&none, &m, "");
}
