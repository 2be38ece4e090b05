#include "tests/lib/json_text.h"
#include "ws/mcp/lean.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(mcp_lean, .timeout = 60);

static const struct {
	const char *in, *want;
} cases[] = {
	{"{}", "{}"},
	{"{'state':'done','exit_code':0,'signal':null,'pipe_status':[0],'ended_by':'command',"
	 "'timed_out':false,'duration_ms':3,'lost_bytes':0,'output_exact':true,'session_id':'s',"
	 "'output':'','terminal':{'status':'prompt'}}",
		"{'exit_code':0,'output':'','state':'done'}"},
	{"{'state':'done','exit_code':null,'ended_by':'busy','timed_out':true,'duration_ms':1000,'lost_bytes':1}",
		"{'duration_ms':1000,'ended_by':'busy','lost_bytes':1,'state':'done','timed_out':true}"},
	{"{'state':'running','terminal':{'status':'running','certain':false,'foreground':{'pid':1,"
	 "'name':'make','argv':['make'],'cpu_ms':5},'quiet_ms':20,'cwd':'/','human_url':'u'}}",
		"{'state':'running','terminal':{'certain':false,'foreground':{'name':'make'},'status':'running'}}"},
	{"{'terminal':{'status':'waiting_input','input':'password','human_url':'u','quiet_ms':1000,'stopped_jobs':0}}",
		"{'terminal':{'human_url':'u','input':'password','quiet_ms':1000,'status':'waiting_input'}}"},
	{"{'terminal':{'status':'exited','exit_code':3}}",
		"{'terminal':{'exit_code':3,'status':'exited'}}"},
	/* exec_command returns a number, which write_stdin accepts. */
	{"{'session_id':5}", "{'session_id':5}"},
	{"{'session_id':'s','shell':'bash','cols':80,'offset':7}",
		"{'cols':80,'session_id':'s','shell':'bash'}"},
	{"{'blocks':[{'id':'b1','command':'x','start':1,'exit_code':0}],'next':0}",
		"{'blocks':[{'command':'x','exit_code':0,'id':'b1'}],'next':0}"},
	{"{'sessions':[{'session_id':'s','clients':0,'cwd':'/'}],'next_cursor':null}",
		"{'sessions':[{'cwd':'/','session_id':'s'}]}"},
};

Test(mcp_lean, meaningless_fields_are_dropped)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *result = json_of(cases[i].in);
		mcp_lean(result);
		json_expect(result, cases[i].want);
	}
}

Test(mcp_lean, errors_have_the_next_step)
{
	cr_expect_not_null(mcp_next_after_error("RESOURCE_BUSY"));
	cr_expect_not_null(mcp_next_after_error("SESSION_TERMINATED"));
	cr_expect_not_null(mcp_next_after_error("RANGE_GONE"));
	cr_expect_null(mcp_next_after_error("NOTHING"));
}

Test(mcp_lean, next_step_depends_on_whether_the_command_may_have_run)
{
	static const struct {
		const char *by, *next; /* a part of the text */
	} ends[] = {
		{"not_started", "it has not run: exec again"},
		{"busy", "it has not run, because another command still runs"},
		{"cancelled", "it has not run"},
		{"lost", "it may have run"},
		{"unknown", "it may have run"},
		{NULL, "it may have run"},
	};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		cr_expect_not_null(
			strstr(mcp_next_after_end(ends[i].by), ends[i].next), "%s", ends[i].by);
}
