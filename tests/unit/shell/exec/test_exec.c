/* An executor whose shell is the test: it reads what is typed, and writes what a bash with the integration would. */
#include "shell/exec/executor.h"
#include "pty/wire.h"
#include "shell/clock.h"
#include "shell/own_error.h"
#include "tests/lib/memory_pane.h"

#include <string.h>
#include <sys/mman.h>

/* The parts of a seal. */
struct parts {
	char mark[SEAL_DIGITS + 1], record[SEAL_DIGITS + 1];
};

struct shell {
	struct memory_pane memory;
	struct blocks blocks;
	struct typing typing;
	struct executors all;
	struct executor executor;
	uint64_t blocks_not_kept;
	unsigned executed, restarted, failed, changed, gone;
	enum exec_end end; /* end of the last exec */
	struct parts seal; /* seal that was typed last */
	struct exec_watcher watcher;
};

static void on_executed(void *user, const struct exec *e)
{
	struct shell *s = user;
	cr_assert_eq(e->state, EXEC_DONE);
	s->executed++;
	s->end = e->end;
}

static void on_restarted(void *user, int wait_status, bool by_holder)
{
	(void)wait_status;
	(void)by_holder;
	((struct shell *)user)->restarted++;
}

static void on_failed(void *user, const char *what, int error)
{
	(void)what;
	(void)error;
	((struct shell *)user)->failed++;
}

static void on_changed(void *user, struct exec *e)
{
	(void)e;
	((struct shell *)user)->changed++;
}

static void on_gone(void *user)
{
	((struct shell *)user)->gone++;
}

static const struct executor_callbacks callbacks = {
	.executed = on_executed, .restarted = on_restarted, .failed = on_failed};

/* The script's memfd has the holder's descriptor number, in this process. */
static void open_executor(struct shell *s)
{
	int before = dup(WIRE_FIXED_FD_SCRIPT);
	int fd = memfd_create("script", MFD_CLOEXEC);
	cr_assert_geq(fd, 0);
	if (fd != WIRE_FIXED_FD_SCRIPT)
		cr_assert_eq(dup2(fd, WIRE_FIXED_FD_SCRIPT), WIRE_FIXED_FD_SCRIPT);
	s->memory.pane.held.link.info.holder_pid = getpid();
	exec_open(&s->executor, false);
	if (fd != WIRE_FIXED_FD_SCRIPT)
		close(fd);
	close(WIRE_FIXED_FD_SCRIPT);
	if (before >= 0) {
		dup2(before, WIRE_FIXED_FD_SCRIPT);
		close(before);
	}
	cr_assert(s->executor.open, "the executor cannot be opened");
}

static struct shell s;

static void make_shell(void)
{
	memory_pane_make(&s.memory);
	executors_open(&s.all, &s.memory.loop, s.memory.folder.path, getenv("RINGSIDE_HOLDER"),
		&callbacks);
	s.blocks = (struct blocks){.pane = &s.memory.pane,
		.nonce = s.executor.nonce,
		.typed = &s.typing.typed,
		.not_kept = &s.blocks_not_kept,
		.find_exec = exec_find_facts,
		.user = &s.executor};
	s.executor = (struct executor){.pane = &s.memory.pane,
		.blocks = &s.blocks,
		.typing = &s.typing,
		.all = &s.all,
		.user = &s,
		.nonce = MEMORY_PANE_NONCE};
	s.watcher = (struct exec_watcher){.changed = on_changed, .gone = on_gone, .user = &s};
	open_executor(&s);
}

static void finish_shell(void)
{
	exec_close(&s.executor);
	blocks_close(&s.blocks);
	executors_close(&s.all);
	memory_pane_finish(&s.memory);
}

TestSuite(exec, .init = make_shell, .fini = finish_shell, .timeout = 30);
TestSuite(exec_close, .init = make_shell, .timeout = 30); /* whose tests close the executor */

static void follow(void)
{
	(void)exec_follow(&s.executor, s.memory.pane.history.scan.offset);
}

static void show_prompt(void)
{
	memory_pane_mark(&s.memory, "A", "");
	memory_pane_say(&s.memory, "$ ");
	memory_pane_mark(&s.memory, "B", "");
	follow();
}

static int start(const char *command, struct exec **ret_exec)
{
	const struct exec_options o = {
		.command = command, .length = strlen(command), .author = "tester", .queue = true};
	return exec_start(&s.executor, &o, &s.watcher, ret_exec);
}

/* Input since the last call, without its seal, which s.seal gets. */
static const char *read_typed(void)
{
	static const char lead[] = INTEGRATION_LOAD SEAL_LEAD;
	static char text[4096];
	snprintf(text, sizeof text, "%s", memory_pane_typed(&s.memory));
	char *at = strstr(text, lead);
	if (!at)
		return text;
	char *digits = at + strlen(lead), *behind = digits + 2 * SEAL_DIGITS;
	cr_assert_eq(strspn(digits, "0123456789abcdefghijklmnopqrstuvwxyz"), 2 * SEAL_DIGITS);
	snprintf(s.seal.mark, sizeof s.seal.mark, "%s", digits);
	snprintf(s.seal.record, sizeof s.seal.record, "%s", digits + SEAL_DIGITS);
	memmove(at + strlen(INTEGRATION_LOAD), behind, strlen(behind) + 1);
	return text;
}

/* The shell reads its input and starts the command. */
static void begin_command(const struct exec *e)
{
	char text[100];
	read_typed();
	snprintf(text, sizeof text, ";id=%s", e->id);
	memory_pane_mark(&s.memory, "C", text);
	snprintf(text, sizeof text, "%s|0", e->id);
	memory_pane_record(&s.memory, 'C', text);
	follow();
}

/* Write a mark and a record of the end. Their seals may be ""; NULL: not written. */
static void write_end(const struct exec *e, int status, const char *mark, const char *record)
{
	char text[160], kind[16];
	snprintf(kind, sizeof kind, "D;%d", status);
	snprintf(text, sizeof text, ";id=%s%s%s", e->id, mark && *mark ? ";q=" : "",
		mark ? mark : "");
	if (mark)
		memory_pane_mark(&s.memory, kind, text);
	snprintf(text, sizeof text, "%s%s%s|%d|%d|/tmp", e->id, record && *record ? ";q=" : "",
		record ? record : "", status, status);
	if (record)
		memory_pane_record(&s.memory, 'D', text);
	follow();
}

static void end_command(const struct exec *e, int status)
{
	write_end(e, status, s.seal.mark, s.seal.record);
}

/* Start a command and get its seal. */
static struct exec *begin_sealed(const char *command, struct parts *ret_parts)
{
	struct exec *e;
	show_prompt();
	cr_assert_eq(start(command, &e), 0);
	begin_command(e);
	*ret_parts = s.seal;
	return e;
}

Test(exec, command_from_its_typing_to_its_end)
{
	struct exec *e;
	struct excerpt_parts parts;
	show_prompt();
	cr_assert_eq(start("make it", &e), 0);
	cr_assert_eq(e->state, EXEC_STARTING);
	cr_assert_str_eq(read_typed(), INTEGRATION_LOAD "\r");
	begin_command(e);
	cr_assert_eq(e->state, EXEC_RUNNING);
	memory_pane_say(&s.memory, "made\r\n");
	uint64_t end = pane_head(&s.memory.pane);
	end_command(e, 3);
	cr_assert_eq(e->state, EXEC_DONE);
	cr_assert_eq(e->end, EXEC_END_COMMAND);
	cr_assert_eq(e->status, 3);
	cr_assert_eq(e->end_offset, end);
	cr_assert_eq(e->end_offset - e->start, strlen("made\r\n"));
	cr_assert_str_eq(e->cwd, "/tmp");
	cr_assert_eq(s.executed, 1);
	cr_assert_eq(s.all.ended, 1);
	cr_assert_gt(s.changed, 2);
	cr_assert_null(
		exec_output(e, EXEC_OUTPUT, &parts), "the output was freed after the callback");
	cr_assert_eq(s.all.budget, EXEC_OUTPUT_BUDGET);
	exec_unwatch(e, &s.watcher);
}

Test(exec, sealed_end_is_accepted)
{
	struct parts parts;
	struct exec *e = begin_sealed("true", &parts);
	write_end(e, 3, parts.mark, parts.record);
	cr_assert_eq(e->state, EXEC_DONE);
	cr_assert_eq(e->status, 3);
	cr_assert(e->end_marked && !e->suspect);
}

Test(exec, unsealed_end_is_ignored)
{
	struct parts parts;
	struct exec *e = begin_sealed("make it", &parts);
	const struct {
		const char *mark, *record;
	} claims[] = {{"", NULL}, {NULL, ""}, {"", ""}, {"0123456789abcdef", "0123456789abcdef"},
		{parts.record, parts.mark}};
	for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
		e->suspect = false;
		write_end(e, 0, claims[i].mark, claims[i].record);
		cr_assert_eq(e->state, EXEC_RUNNING, "%zu", i);
		cr_assert(e->suspect && !e->end_marked, "%zu", i);
		cr_assert_not_null(blocks_running(&s.blocks), "%zu", i);
	}
	memory_pane_record(&s.memory, 'X', "0|");
	follow();
	cr_assert_eq(e->state, EXEC_RUNNING, "the shell was not replaced");
	cr_assert_eq(s.restarted, 0);
	memory_pane_say(&s.memory, "made\r\n");
	write_end(e, 7, parts.mark, parts.record);
	cr_assert_eq(e->state, EXEC_DONE);
	cr_assert_eq(e->status, 7);
	cr_assert(e->suspect);
	cr_assert(s.blocks.list->prev->suspect && !s.blocks.list->prev->exact);
}

Test(exec, if_mark_and_record_differ_the_mark_counts)
{
	struct parts parts;
	struct exec *e = begin_sealed("true", &parts);
	write_end(e, 7, parts.mark, NULL);
	write_end(e, 0, NULL, parts.record);
	cr_assert_eq(e->state, EXEC_DONE);
	cr_assert_eq(e->status, 7);
	cr_assert(e->suspect);
}

Test(exec, second_start_is_suspect)
{
	struct parts parts;
	struct exec *e = begin_sealed("true", &parts);
	uint64_t begun = e->start;
	memory_pane_say(&s.memory, "output\r\n");
	begin_command(e);
	cr_assert_eq(e->start, begun);
	cr_assert(e->suspect);
	cr_assert_eq(s.blocks.count, 1);
}

Test(exec_close, unsealed_end_without_a_prompt_is_no_end)
{
	struct parts parts;
	struct exec *e = begin_sealed("true", &parts);
	write_end(e, 4, "", "");
	exec_tick(&s.executor);
	cr_assert_eq(e->state, EXEC_RUNNING, "there is no prompt");
	finish_shell();
	cr_assert_eq(s.end, EXEC_END_LOST);
}

Test(exec, is_a_block_of_its_author)
{
	struct exec *e;
	show_prompt();
	cr_assert_eq(start("true", &e), 0);
	cr_assert_null(blocks_running(&s.blocks), "it has not begun");
	begin_command(e);
	const struct block *b = blocks_running(&s.blocks);
	cr_assert(b);
	cr_assert_str_eq(b->author, "tester");
	cr_assert_str_eq(b->command, "true");
	cr_assert_str_eq(b->exec, e->id);
	end_command(e, 0);
	cr_assert(b->settled && b->stored && b->status == 0);
	cr_assert_eq(s.memory.pane.journal.count, 2);
	cr_assert_eq(s.blocks_not_kept, 0);
}

Test(exec_close, execs_run_one_at_a_time_in_order)
{
	struct exec *first, *second;
	show_prompt();
	cr_assert_eq(start("one", &first), 0);
	read_typed();
	struct exec_watcher other = {.changed = on_changed, .gone = on_gone, .user = &s};
	const struct exec_options o = {.command = "two", .length = 3, .queue = true};
	cr_assert_eq(exec_start(&s.executor, &o, &other, &second), 0);
	cr_assert_eq(second->state, EXEC_QUEUED);
	cr_assert_str_eq(exec_wait_reason(second), "Another command runs");
	const struct exec_options busy = {.command = "three", .length = 5};
	struct exec *third;
	cr_assert_eq(exec_start(&s.executor, &busy, NULL, &third), -EBUSY);
	begin_command(first);
	end_command(first, 0);
	cr_assert_eq(second->state, EXEC_QUEUED, "there is no prompt yet");
	show_prompt();
	cr_assert_eq(second->state, EXEC_STARTING);
	cr_assert_str_eq(read_typed(), INTEGRATION_LOAD "\r");
	finish_shell();
	cr_assert_eq(s.gone, 2);
	cr_assert_eq(s.executed, 2);
	cr_assert_eq(s.end, EXEC_END_LOST);
}

Test(exec, input_waits_until_the_command_has_begun)
{
	struct exec *e;
	show_prompt();
	cr_assert_eq(start("cat", &e), 0);
	read_typed();
	cr_assert_eq(exec_write(&s.executor, "hello", 5), 0);
	cr_assert_str_eq(read_typed(), "");
	cr_assert_eq(exec_input_waiting(&s.executor), 5);
	cr_assert_eq(s.memory.counters.bytes_in, 0, "counted when it is written");
	begin_command(e);
	cr_assert_str_eq(read_typed(), "hello");
	cr_assert_eq(s.memory.counters.bytes_in, 5);
	cr_assert(e->interleaved);
}

Test(exec, input_waits_while_the_first_prompt_is_drawn)
{
	cr_assert_eq(s.executor.prompt, EXEC_PROMPT_NONE);
	memory_pane_mark(&s.memory, "A", "");
	follow();
	cr_assert_eq(s.executor.prompt, EXEC_PROMPT_FIRST);
	cr_assert_eq(exec_write(&s.executor, "ls", 2), 0);
	cr_assert_str_eq(read_typed(), "");
	memory_pane_mark(&s.memory, "B", "");
	follow();
	cr_assert_str_eq(read_typed(), "ls");
	memory_pane_mark(&s.memory, "A", "");
	follow();
	cr_assert_eq(s.executor.prompt, EXEC_PROMPT_COMING);
	cr_assert_eq(exec_write(&s.executor, " -l", 3), 0);
	cr_assert_str_eq(read_typed(), " -l");
}

Test(exec, refused_requests)
{
	struct exec *e = NULL;
	show_prompt();
	const struct lease_terms terms = {
		.owner = "x", .author = "owner", .exclusive = true, .ttl_ms = 60000};
	cr_assert_eq(lease_acquire(&s.typing.lease, &terms, clock_wall_ms()), 0);
	cr_assert_eq(start("true", &e), -EACCES);
	lease_clear(&s.typing.lease);
	const struct exec_options nul = {.command = "a\0b", .length = 3};
	cr_assert_eq(exec_start(&s.executor, &nul, NULL, &e), -EINVAL);
	s.memory.pane.life = (struct pane_life){.exited = true};
	cr_assert_eq(start("true", &e), -ERR_NOT_RUNNING);
	cr_assert_eq(exec_write(&s.executor, "x", 1), -ERR_NOT_RUNNING);
	cr_assert_null(e);
}

Test(exec, exit_of_the_shell_ends_the_exec)
{
	struct exec *e;
	show_prompt();
	cr_assert_eq(start("exit 7", &e), 0);
	begin_command(e);
	s.memory.pane.life = (struct pane_life){
		.exited = true, .status_known = true, .status = 7 << 8, .exited_ms = 1000};
	exec_shell_ended(&s.executor);
	cr_assert_eq(e->end, EXEC_END_SHELL);
	cr_assert_eq(e->status, 7);
	cr_assert_eq(e->ended_ms, 1000);
	cr_assert_not(exec_has_replaced_shell(e));
}

Test(exec, ticker_stops_when_idle)
{
	struct exec *e;
	show_prompt();
	cr_assert_not(uv_is_active((uv_handle_t *)&s.all.ticker));
	cr_assert_eq(start("true", &e), 0);
	cr_assert(uv_is_active((uv_handle_t *)&s.all.ticker));
	begin_command(e);
	end_command(e, 0);
	cr_assert(LOOP_UNTIL(&s.memory.loop, !uv_is_active((uv_handle_t *)&s.all.ticker)));
}
