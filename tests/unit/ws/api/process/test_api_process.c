/* Processes; the test plays their supervisor (pty/supervise.h). */
#include "tests/lib/memory_api.h"
#include "ws/api/process/port.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#define SUITE .init = memory_api_open, .fini = memory_api_close, .timeout = 60
TestSuite(api_process, SUITE);
TestSuite(api_process_start, SUITE);

#define START "POST /api/process/start"
#define WAIT "POST /api/process/p/wait"

/* The supervisor reports that the command runs. */
static void begin_command(const char *id)
{
	memory_holder_record(memory_api_process_holder(id), "p 2147483600\n");
	memory_api_settle();
}

static void start_as(const char *id, const char *body)
{
	struct call *c = memory_api_begin(START, body);
	begin_command(id);
	call_expect(c, 200, "");
	call_end(c);
}

static void start(void)
{
	start_as("p", "{'command':'serve','processId':'p'}");
}

static void open_with_process(void)
{
	memory_api_open();
	start();
}

#define WITH_PROCESS .init = open_with_process, .fini = memory_api_close, .timeout = 60
TestSuite(api_process_output, WITH_PROCESS);
TestSuite(api_process_wait, WITH_PROCESS);

static void print(enum event_source source, const char *text)
{
	memory_holder_say_from(memory_api_process_holder("p"), source, text);
	memory_api_settle();
}

/* The command ends with this wait status; its background jobs live on. */
static void end_command(int status)
{
	char text[32];
	snprintf(text, sizeof text, "x %d\n", status);
	memory_holder_record(memory_api_process_holder("p"), text);
	memory_api_settle();
}

/* The command and its background jobs end. */
static void end_all(int status)
{
	const struct process *p = memory_api_process("p");
	end_command(status);
	memory_holder_exit(memory_api_process_holder("p"), status);
	cr_assert(LOOP_UNTIL(
		&memory_api.loop, p->tree == PROCESS_TREE_GONE && !process_has_holder(p)));
}

static unsigned count_directories(void)
{
	unsigned count = 0;
	DIR *dir = fdopendir(openat(memory_api.folder.fd, "processes", O_RDONLY | O_DIRECTORY));
	cr_assert_not_null(dir);
	for (const struct dirent *d; (d = readdir(dir));)
		count += d->d_name[0] != '.';
	closedir(dir);
	return count;
}

Test(api_process_start, is_answered_once_the_command_runs)
{
	struct call *c = memory_api_begin(
		START, "{'command':'serve -p 1','processId':'p','cwd':'/tmp','timeoutMs':0}");
	/* The directory is checked first. */
	cr_assert(LOOP_UNTIL(&memory_api.loop, processes_find(&memory_api.processes, "p")));
	memory_api_settle();
	cr_expect_not(c->answered);
	memory_api_check("GET /api/process/p", NULL, "{'process':{'status':'starting'}}");
	begin_command("p");
	call_returns(c, "{'processId':'p','pid':2147483600,'status':'running'}");
	memory_api_check("GET /api/process/p", NULL,
		"{'process':{'status':'running','command':'serve -p 1','cwd':'/tmp',"
		"'stdin':'none'}}");
}

Test(api_process_start, generates_an_id)
{
	struct call *c = memory_api_begin(START, "{'command':'serve'}");
	const struct process *p = process_next(&memory_api.processes, NULL);
	begin_command(p->held.id);
	call_await(c);
	cr_expect_eq(strncmp(call_text(c, "processId"), "proc_", 5), 0);
}

Test(api_process_start, invalid_requests)
{
	static const struct refused cases[] = {{START, NULL, INVALID, "command"},
		{START, "{'command':1}", INVALID, "command"},
		{START, "{'command':'a\\u0000b'}", INVALID, "command"},
		{START, "{'command':' \\n\\t'}", 400, "INVALID_COMMAND"},
		{START, "nothing", INVALID, "body"},
		{START "?session=a%2Fb", "{'command':'x'}", INVALID, "sessionId"},
		{START, "{'command':'x'}", 403, "PERMISSION_DENIED", NULL, BY_DRIVER},
		{START, "{'command':'x'}", 401, "UNAUTHENTICATED", NULL, BY_NOBODY}};
	EXPECT_INVALID(START, "{'command':'x',", "'processId':''", "'processId':1",
		"'processId':'a/b'", "'processId':'../../../tmp/x'", "'env':{'a b':'c'}",
		"'processId':'start'", "'processId':'list'", "'processId':'kill-all'",
		"'processId':'" LONG_128 "x'", "'cwd':1", "'cwd':'/no/such/place'",
		"'cwd':'/dev/null'", "'sessionId':1", "'sessionId':'a/b'", "'timeoutMs':-1",
		"'timeoutMs':31536000001", "'timeoutMs':'1'", "'hold':1", "'stdin':'open'",
		"'stdin':true", "'env':[]");
	EXPECT_REFUSED(cases);
	cr_expect_eq(processes_count(&memory_api.processes), 0);
	cr_expect_eq(memory_holders_count(), 0);
	cr_expect_eq(count_directories(), 0);
}

Test(api_process_start, invalid_directory_is_named)
{
	static const char *const places[] = {"/no/such/place", "/dev/null"};
	for (size_t i = 0; i < 2; i++) {
		char body[128];
		snprintf(body, sizeof body, "{'command':'x','cwd':'%s'}", places[i]);
		struct call *c = memory_api_call(START, body);
		cr_expect_not_null(strstr(call_text(c, "message"), places[i]), "%s", call_body(c));
	}
}

Test(api_process_start, command_that_is_too_long)
{
	memory_api_expect_too_long(START, "{", "command", PROCESS_COMMAND_MAX + 1);
}

Test(api_process_start, id_in_use_is_refused)
{
	start();
	struct call *c = memory_api_call(START, "{'command':'x','processId':'p'}");
	call_expect(c, 409, "PROCESS_ALREADY_EXISTS");
	cr_expect_str_eq(call_text(c, "context.processId"), "p");
	end_all(0);
	start_as("p", "{'command':'again','processId':'p'}");
	c = memory_api_call("GET /api/process/p", NULL);
	cr_expect_str_eq(call_text(c, "process.command"), "again", "an ended process is replaced");
}

Test(api_process_start, number_of_processes_is_limited)
{
	start_as("a", "{'command':'x','processId':'a'}");
	start_as("b", "{'command':'x','processId':'b'}");
	start_as("c", "{'command':'x','processId':'c'}");
	struct call *c = memory_api_call(START, "{'command':'x'}");
	call_expect(c, 429, "LIMIT_REACHED");
	cr_expect_eq(call_number(c, "context.maxProcesses"), MEMORY_API_PROCESSES);
}

Test(api_process_start, errors_of_the_holder)
{
	static const struct {
		enum report_stage stage;
		int error, status;
		const char *code, *field;
	} cases[] = {{REPORT_CHDIR, -EACCES, 400, "VALIDATION_FAILED", "cwd"},
		{REPORT_CHDIR, -ENOMEM, 500, "OUT_OF_MEMORY", ""},
		{REPORT_SETUP, -EIO, 500, "PROCESS_ERROR", ""},
		{REPORT_EXEC, -ENOENT, 500, "PROCESS_ERROR", ""},
		{REPORT_SETUP, -EAGAIN, 500, "TOO_MANY_PROCESSES", ""}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		memory_holder_refuse_next(cases[i].stage, cases[i].error);
		struct call *c = memory_api_call(START, "{'command':'x','processId':'p'}");
		cr_expect_eq(call_status(c), cases[i].status, "%zu: %s", i, call_body(c));
		cr_expect_str_eq(call_code(c), cases[i].code, "%zu: %s", i, call_body(c));
		cr_expect_str_eq(call_field(c), cases[i].field, "%zu: %s", i, call_body(c));
		call_end(c);
	}
	cr_expect_eq(processes_count(&memory_api.processes), 0);
}

Test(api_process_start, holder_dies_or_supervisor_exits_while_starting)
{
	struct call *c = memory_api_begin(START, "{'command':'x','processId':'p'}");
	memory_holder_die(memory_api_process_holder("p"));
	call_expect(c, 500, "PROCESS_ERROR");
	c = memory_api_begin(START, "{'command':'x','processId':'q'}");
	memory_holder_exit(memory_api_process_holder("q"), 126 << 8);
	call_expect(c, 500, "PROCESS_ERROR");
	/* Both happen before the server reads that the supervisor has exited. */
	c = memory_api_begin(START, "{'command':'x','processId':'r'}");
	memory_api_settle();
	memory_holder_exit(memory_api_process_holder("r"), 126 << 8);
	memory_holder_die(memory_api_process_holder("r"));
	call_expect(c, 500, "PROCESS_ERROR");
	cr_expect_eq(memory_api.processes.counters.ended, 0);
}

Test(api_process_start, process_starts_without_its_client)
{
	call_end(memory_api_begin(START, "{'command':'x','processId':'p'}"));
	begin_command("p");
	cr_expect_eq(memory_api_process("p")->state, PROCESS_RUNNING);
}

Test(api_process_start, server_exits_while_starting)
{
	struct call *c = memory_api_begin(START, "{'command':'x','processId':'p'}");
	memory_api_end_tables();
	call_await(c);
	cr_expect_str_eq(call_code(c), "OPERATION_INTERRUPTED", "%s", call_body(c));
}

Test(api_process_start, options_of_a_session)
{
	memory_api_start("s");
	struct call *c = memory_api_ask(&(struct ask){
		.line = START, .body = "{\"command\":\"x\",\"processId\":\"p\"}", .hint = "s"});
	begin_command("p");
	call_await(c);
	memory_api_check("GET /api/process/p", NULL, "{'process':{'sessionId':'s'}}");
}

static const struct {
	const char *line, *body;
} requests[] = {{"GET /api/process/p", NULL}, {"DELETE /api/process/p", NULL},
	{"POST /api/process/p/signal", "{'signal':'TERM'}"},
	{"POST /api/process/p/input", "{'data':'x'}"}, {"GET /api/process/p/logs", NULL},
	{"GET /api/process/p/output", NULL}, {"GET /api/process/p/stream", NULL},
	{WAIT, "{'for':'exit'}"}};

Test(api_process, unknown_processes)
{
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
		const struct refused cases[] = {
			{requests[i].line, requests[i].body, 404, "PROCESS_NOT_FOUND"},
			{requests[i].line, requests[i].body, 403, "PERMISSION_DENIED", NULL,
				BY_DRIVER},
			{requests[i].line, requests[i].body, 401, "UNAUTHENTICATED", NULL,
				BY_NOBODY}};
		EXPECT_REFUSED(cases);
		struct call *c = memory_api_call(requests[i].line, requests[i].body);
		cr_expect_str_eq(call_text(c, "context.processId"), "p");
	}
}

Test(api_process, all_are_listed)
{
	start_as("a", "{'command':'x','processId':'a'}");
	start();
	end_all(3 << 8);
	struct call *c = memory_api_call("GET /api/process/list", NULL);
	call_has(c, "{'processes':[{'id':'a'},{'exitCode':3}]}");
	static const char *const words[] = {
		"starting", "running", "completed", "failed", "killed", "error"};
	static const size_t counts[] = {0, 1, 0, 1, 0, 0};
	for (size_t i = 0; i < 6; i++) {
		c = memory_api_get("GET /api/process/list?status=%s", words[i]);
		cr_expect_eq(json_array_size(call_get(c, "processes")), counts[i], "%s", words[i]);
	}
	static const struct refused cases[] = {
		{"GET /api/process/list?status=", NULL, INVALID, "status"},
		{"GET /api/process/list?status=Running", NULL, INVALID, "status"}};
	EXPECT_REFUSED(cases);
}

Test(api_process, kinds_of_ends)
{
	static const struct {
		int wait_status, code;
		const char *status, *signal;
	} cases[] = {{0, 0, "completed", NULL}, {7 << 8, 7, "failed", NULL},
		{SIGSEGV, 139, "failed", "SEGV"}, {SIGKILL, 137, "killed", "KILL"},
		{(128 + SIGTERM) << 8, 143, "killed", NULL}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		start();
		end_all(cases[i].wait_status);
		struct call *c = memory_api_call("GET /api/process/p", NULL);
		cr_expect_str_eq(call_text(c, "process.status"), cases[i].status, "%zu", i);
		cr_expect_eq(call_number(c, "process.exitCode"), cases[i].code, "%zu", i);
		if (cases[i].signal)
			cr_expect_str_eq(call_text(c, "process.signal"), cases[i].signal);
		else
			cr_expect_null(call_get(c, "process.signal"));
		call_text(c, "process.endTime");
		call_end(c);
	}
}

Test(api_process, invalid_records_are_ignored)
{
	static const char *const records[] = {"", "\n", "p\n", "p \n", "p x\n", "p -1\n", "p 0\n",
		"p 99999999999999999999\n", "q 1\n", "x", "x 1", "p 1", "\xff\xfe\n",
		"p 2147483648\n"};
	struct call *c = memory_api_begin(START, "{'command':'x','processId':'p'}");
	for (size_t i = 0; i < sizeof records / sizeof *records; i++)
		memory_holder_record(memory_api_process_holder("p"), records[i]);
	memory_api_settle();
	cr_expect_not(c->answered);
	memory_holder_record(memory_api_process_holder("p"), "p x\np 4711\nx 256\n");
	call_has(c, "{'pid':4711}");
	memory_api_check("GET /api/process/p", NULL, "{'process':{'exitCode':1}}");
}

Test(api_process, is_killed_and_removed)
{
	start();
	EXPECT_INVALID("DELETE /api/process/p?", NULL, "graceMs=x", "graceMs=-1", "graceMs=60001");
	end_all(0);
	static const struct refused ended[] = {
		{"DELETE /api/process/p", NULL, 404, "COMMAND_NOT_FOUND"},
		{"DELETE /api/process/p?remove=0", NULL, 404, "COMMAND_NOT_FOUND"},
		{"POST /api/process/p/signal", "{'signal':'TERM'}", 404, "COMMAND_NOT_FOUND"}};
	EXPECT_REFUSED(ended);
	struct call *c = memory_api_call("DELETE /api/process/p", NULL);
	cr_expect_eq(call_number(c, "context.exitCode"), 0);
	c = memory_api_call("DELETE /api/process/p?remove=1", NULL);
	cr_expect_eq(call_status(c), 200);
	cr_expect_eq(memory_api_status("GET /api/process/p", NULL), 404);
}

Test(api_process, starting_process_is_not_killed)
{
	memory_api_begin(START, "{'command':'x','processId':'p'}");
	static const struct refused cases[] = {
		{"DELETE /api/process/p", NULL, 409, "RESOURCE_BUSY"}};
	EXPECT_REFUSED(cases);
}

Test(api_process, kill_all_works_without_processes)
{
	memory_api_check("DELETE /api/process/kill-all", NULL, "{'cleanedCount':0}");
	start();
	memory_api_check("DELETE /api/process/kill-all", NULL, "{'cleanedCount':1}");
}

/* A process in the holder's place, with a child that ignores TERM. */
static pid_t fork_ignoring_term(void)
{
	int ready[2];
	char byte;
	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		pid_t parent = getpid();
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			signal(SIGTERM, SIG_IGN);
			if (getppid() != parent || write(ready[1], "x", 1) != 1)
				_exit(1);
		}
		for (;;)
			pause();
	}
	cr_assert_gt(pid, 0);
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

Test(api_process, server_exits_during_a_kill)
{
	static const char *const lines[] = {"DELETE /api/process/p", "DELETE /api/process/kill-all"};
	pid_t pid = fork_ignoring_term();
	start();
	memory_api_process_holder("p")->pid = pid;
	struct call *calls[2];
	for (size_t i = 0; i < 2; i++) {
		calls[i] = memory_api_begin(lines[i], NULL);
		cr_expect_not(calls[i]->answered, "%s", lines[i]);
	}
	memory_api_end_tables();
	for (size_t i = 0; i < 2; i++) {
		call_await(calls[i]);
		cr_expect_str_eq(call_code(calls[i]), "OPERATION_INTERRUPTED", "%s", lines[i]);
	}
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(api_process, invalid_signals)
{
	static const struct refused cases[] = {
		{"POST /api/process/p/signal", NULL, INVALID, "signal"},
		{"POST /api/process/p/signal", "{'signal':'TERM','tree':1}", INVALID, "tree"},
		{"POST /api/process/p/signal", "{'signal':'TERM','tree':'true'}", INVALID, "tree"}};
	start();
	EXPECT_INVALID("POST /api/process/p/signal", "{", "'signal':999", "'signal':'nine'",
		"'signal':''");
	EXPECT_REFUSED(cases);
}

Test(api_process, invalid_input)
{
#define STDIN "POST /api/process/p/input"
	static const struct refused cases[] = {{STDIN, NULL, INVALID, "data"},
		{STDIN, "{'eof':false}", INVALID, "data"}, {STDIN, "{'eof':1}", INVALID, "data"},
		{STDIN, "{'data':'x','eof':1}", INVALID, "eof"},
		{STDIN, "{'data':'x'}", 409, "INPUT_CLOSED"},
		{STDIN, "{'eof':true}", 409, "INPUT_CLOSED"}};
	start();
	EXPECT_INVALID(STDIN, "{", "'data':1", "'data':null", "'base64':1", "'base64':'*'");
	EXPECT_REFUSED(cases);
}

Test(api_process_output, of_both_streams)
{
	print(EVENT_SOURCE_STDOUT, "out\r\n");
	print(EVENT_SOURCE_STDERR, "err\r\n");
	print(EVENT_SOURCE_STDOUT, "\303\244");
	struct call *c = memory_api_call("GET /api/process/p/logs", NULL);
	call_has(c, "{'stdout':'out\\n\303\244','stderr':'err\\n','lost':0}");
	memory_api_check("GET /api/process/p/output", NULL,
		"{'chunks':[{},{'stream':'stderr','data':'err\\n'},{}],'nextCursor':12,"
		"'ended':false}");
	c = memory_api_call("GET /api/process/p/output?stream=stdout&cursor=2", NULL);
	cr_expect_str_eq(call_text(c, "data"), "t\n\303\244");
	c = memory_api_call("GET /api/process/p/output?stream=stderr&encoding=base64", NULL);
	cr_expect_str_eq(call_text(c, "base64"), "ZXJyCg==");
	c = memory_api_call("GET /api/process/p/output?stream=stdout&limit=0", NULL);
	cr_expect_str_eq(call_text(c, "data"), "o", "at least one byte");
}

Test(api_process_output, invalid_queries)
{
#define OUTPUT "GET /api/process/p/output"
	static const struct refused cases[] = {
		{"GET /api/process/p/stream?cursor=x", NULL, INVALID, "cursor"},
		{"GET /api/process/p/stream?cursor=9223372036854775808", NULL, INVALID, "cursor"}};
	EXPECT_INVALID(OUTPUT "?", NULL, "cursor=x", "cursor=-1", "cursor=9223372036854775808",
		"limit=1048577", "limit=", "waitMs=60001", "stream=", "stream=all",
		"encoding=", "encoding=utf8");
	EXPECT_REFUSED(cases);
	cr_expect_eq(memory_api_status(OUTPUT "?cursor=9223372036854775807", NULL), 200);
}

static int viewers(void)
{
	const struct process_viewer *v;
	int count;
	DL_COUNT(memory_api_process("p")->viewers, v, count);
	return count;
}

Test(api_process_output, can_be_waited_for)
{
	struct call *out = memory_api_begin(OUTPUT "?stream=stdout&waitMs=60000", NULL);
	struct call *gone = memory_api_begin(OUTPUT "?waitMs=60000", NULL);
	struct call *never = memory_api_call(OUTPUT "?waitMs=1", NULL);
	cr_expect_eq(json_array_size(call_get(never, "chunks")), 0);
	cr_expect_eq(viewers(), 2);
	call_end(gone);
	cr_expect_eq(viewers(), 1, "a disconnect ends the wait");
	print(EVENT_SOURCE_STDERR, "err");
	cr_expect_not(out->answered, "the text is on the other stream");
	print(EVENT_SOURCE_STDOUT, "out");
	call_has(out, "{'data':'out'}");
	struct call *end = memory_api_begin(OUTPUT "?cursor=6&waitMs=60000", NULL);
	end_command(0);
	call_has(end, "{'ended':true,'exitCode':0}");
}

Test(api_process_output, process_is_removed_while_a_request_waits)
{
	struct call *c = memory_api_begin(OUTPUT "?waitMs=60000", NULL);
	struct call *stream = memory_api_call("GET /api/process/p/stream", NULL);
	struct call *wait = memory_api_begin(WAIT, "{'for':'exit'}");
	cr_assert(call_event(stream, "process_info"));
	cr_expect_eq(memory_api_status("DELETE /api/process/p?remove=1&graceMs=0", NULL), 200);
	call_expect(c, 404, NULL);
	call_expect(wait, 404, NULL);
	while (call_event(stream, NULL))
		cr_expect_str_neq(call_text(stream, "type"), "stdout");
}

Test(api_process_output, stream)
{
	struct call *c = memory_api_call("GET /api/process/p/stream", NULL);
	struct call *gone = memory_api_call("GET /api/process/p/stream", NULL);
	call_event_has(c, "process_info", "{'processId':'p'}");
	cr_assert(call_event(gone, "process_info"));
	print(EVENT_SOURCE_STDOUT, "out \303");
	cr_assert(call_event(c, "stdout"));
	cr_expect_str_eq(call_text(c, "data"), "out ", "a character is not cut");
	call_end(gone);
	print(EVENT_SOURCE_STDOUT, "\244");
	call_event_has(c, "stdout", "{'data':'\303\244'}");
	end_all(4 << 8);
	call_event_has(c, "exit", "{'exitCode':4,'data':'Process failed with exit code 4'}");
	cr_expect_not(call_event(c, NULL));
	c = memory_api_call("GET /api/process/p/logs", NULL);
	cr_expect_str_eq(call_text(c, "stdout"), "out \303\244", "the output is kept in a file");
}

Test(api_process_wait, invalid_requests)
{
	static const struct refused cases[] = {{WAIT, NULL, INVALID, "for"},
		{WAIT, "{'for':'log'}", INVALID, "pattern"},
		{WAIT, "{'for':'port'}", 400, "INVALID_PORT"},
		{WAIT, "{'for':'port','port':80,'mode':'udp'}", INVALID, "mode"}};
	EXPECT_INVALID(WAIT, "{", "'for':'end'", "'for':1");
	EXPECT_INVALID(WAIT, "{'for':'exit',", "'timeoutMs':0", "'timeoutMs':86400001");
	EXPECT_INVALID(WAIT, "{'for':'log',", "'pattern':''", "'pattern':1", "'pattern':'a\\nb'",
		"'pattern':'a\\u0000'", "'regex':'('");
	EXPECT_INVALID(
		WAIT, "{'for':'log','pattern':'a',", "'regex':'b'", "'stream':'x'", "'cursor':-1");
	EXPECT_REFUSED(cases);
}

Test(api_process_wait, for_a_line)
{
	struct call *c = memory_api_begin(WAIT, "{'for':'log','pattern':'Ready'}");
	struct call *other = memory_api_begin(
		WAIT, "{'for':'log','regex':'port [0-9]+$','stream':'stderr'}");
	print(EVENT_SOURCE_STDOUT, "Rea");
	print(EVENT_SOURCE_STDERR, "port 80");
	cr_expect_not(c->answered || other->answered);
	print(EVENT_SOURCE_STDOUT, "dy.");
	call_returns(c, "{'match':'Ready','stream':'stdout'}");
	print(EVENT_SOURCE_STDERR, "80\r\n");
	call_has(other, "{'match':'port 8080','line':'port 8080'}");
}

Test(api_process_wait, earlier_output_counts_unless_it_is_before_the_cursor)
{
	print(EVENT_SOURCE_STDOUT, "ready\n");
	memory_api_check(WAIT, "{'for':'log','pattern':'ready'}", "{'match':'ready'}");
	static const struct refused later[] = {
		{WAIT, "{'for':'log','pattern':'ready','cursor':6,'timeoutMs':1}", 408,
			"PROCESS_READY_TIMEOUT"},
		{WAIT, "{'for':'log','pattern':'ready','stream':'stderr','timeoutMs':1}", 408,
			"PROCESS_READY_TIMEOUT"},
		{WAIT, "{'for':'exit','timeoutMs':1}", 408, "PROCESS_READY_TIMEOUT"}};
	EXPECT_REFUSED(later);
	struct call *c = memory_api_call(WAIT, "{'for':'exit','timeoutMs':1}");
	cr_expect_eq(call_number(c, "context.timeoutMs"), 1);
}

Test(api_process_wait, for_its_end)
{
	struct call *c = memory_api_begin(WAIT, "{'for':'exit'}");
	struct call *line = memory_api_begin(WAIT, "{'for':'log','pattern':'never'}");
	print(EVENT_SOURCE_STDERR, "oops");
	end_command(1 << 8);
	call_returns(c, "{'exitCode':1}");
	call_expect(line, 500, "PROCESS_EXITED_BEFORE_READY");
	call_has(line, "{'context':{'exitCode':1,'stdout':'','stderr':'oops'}}");
}

Test(api_process_wait, client_disconnects_or_server_exits)
{
	call_end(memory_api_begin(WAIT, "{'for':'exit'}"));
	call_end(memory_api_begin(WAIT, "{'for':'log','pattern':'x'}"));
	call_end(memory_api_begin(WAIT, "{'for':'port','port':1,'interval':1000}"));
	cr_expect_eq(memory_api.api.process_waits, 0, "a disconnect ends the wait");
	cr_expect_eq(memory_api.api.port_watches, 0);
	struct call *c = memory_api_begin(WAIT, "{'for':'port','port':1,'interval':1000}");
	cr_expect_eq(memory_api.api.process_waits, 1);
	memory_api_end_tables();
	call_await(c);
	cr_expect_str_eq(call_code(c), "PROCESS_NOT_FOUND");
}

Test(api_process, invalid_ports)
{
#define PORT "POST /api/port-watch"
	static const struct refused cases[] = {{PORT, NULL, 400, "INVALID_PORT"},
		{PORT, "{'port':null}", 400, "INVALID_PORT"},
		{PORT, "{'port':0}", 400, "INVALID_PORT"},
		{PORT, "{'port':65536}", 400, "INVALID_PORT"},
		{PORT, "{'port':'80'}", 400, "INVALID_PORT"},
		{PORT, "{'port':80,'mode':'tcp','processId':'../x'}", 404, "PROCESS_NOT_FOUND"},
		{PORT, "{'port':80,'processId':'no'}", 404, "PROCESS_NOT_FOUND"},
		{PORT, "{'port':80}", 403, "PERMISSION_DENIED", NULL, BY_DRIVER}};
	EXPECT_INVALID(PORT, "{'port':80,", "'mode':'udp'", "'mode':1", "'processId':1");
	EXPECT_INVALID(PORT, "{'port':80,'mode':'http',", "'path':'/a b'", "'path':'/a\\r\\nX: y'",
		"'statusMin':99", "'statusMax':1000", "'statusMax':'x'", "'interval':-1");
	EXPECT_REFUSED(cases);
	memory_api_expect_too_long(PORT, "{'port':80,", "path", 5000);
	cr_expect_eq(memory_api.api.port_watches, 0);
}

Test(api_process, number_of_port_watches_is_limited)
{
	static const struct refused cases[] = {{PORT, "{'port':1}", 429, "LIMIT_REACHED"},
		{WAIT, "{'for':'port','port':1}", 429, "LIMIT_REACHED"}};
	start();
	memory_api.api.port_watches = API_PORT_WATCHES_MAX;
	EXPECT_REFUSED(cases);
	cr_expect_eq(memory_api.api.port_watches, API_PORT_WATCHES_MAX);
	memory_api.api.port_watches = 0;
}

Test(api_process, port_is_watched_until_its_process_ends)
{
	start();
	struct call *c = memory_api_begin(
		PORT, "{'port':1,'mode':'tcp','processId':'p','interval':1000}");
	cr_assert(call_event(c, "watching"));
	cr_expect_eq(memory_api.api.port_watches, 1);
	end_command(9 << 8);
	call_event_has(c, "process_exited", "{'exitCode':9}");
	cr_expect_not(call_event(c, NULL));
	call_end(c);
	c = memory_api_call(PORT, "{'port':1,'mode':'tcp','processId':'p'}");
	cr_assert(call_event(c, "watching"));
	cr_assert(call_event(c, "process_exited"), "it had ended before");
	call_end(c);
	cr_expect_eq(memory_api.api.port_watches, 0);
}

Test(api_process, port_watch_ends_when_its_process_is_removed)
{
	start();
	struct call *c = memory_api_begin(PORT, "{'port':1,'mode':'tcp','processId':'p'}");
	cr_assert(call_event(c, "watching"));
	cr_expect_eq(memory_api_status("DELETE /api/process/p?remove=1&graceMs=0", NULL), 200);
	cr_assert(call_event(c, "error"));
	cr_expect_not(call_event(c, NULL));
	call_end(c);
	cr_expect_eq(memory_api.api.port_watches, 0);
}
