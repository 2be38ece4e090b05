/* Blocks from marks and records, without a shell or an executor. */
#include "shell/block/blocks.h"
#include "shell/block/internal.h"
#include "shell/block/output.h"
#include "tests/lib/memory_pane.h"

#include <string.h>

struct fixture {
	struct memory_pane memory;
	struct blocks blocks;
	struct typed typed;
	uint64_t not_kept;
	const char *exec; /* id of the exec that exists, or NULL */
};

static bool find_exec(void *user, const char *id, struct block_exec *ret_exec)
{
	const struct fixture *t = user;
	if (!t->exec || strcmp(t->exec, id) != 0)
		return false;
	*ret_exec = (struct block_exec){
		.id = id, .command = "for a program", .author = "agent", .label = ""};
	return true;
}

static void wire_blocks(struct fixture *t)
{
	t->blocks = (struct blocks){.pane = &t->memory.pane,
		.nonce = MEMORY_PANE_NONCE,
		.typed = &t->typed,
		.not_kept = &t->not_kept,
		.find_exec = find_exec,
		.user = t};
}

static struct fixture t;

static void make_fixture(void)
{
	memory_pane_make(&t.memory);
	wire_blocks(&t);
}

static void finish_fixture(void)
{
	blocks_close(&t.blocks);
	typed_finish(&t.typed);
	memory_pane_finish(&t.memory);
}

TestSuite(blocks, .init = make_fixture, .fini = finish_fixture, .timeout = 30);

/* A mark at the current offset, without bytes. */
static void add_mark(enum mark_kind kind, const char *id, int status)
{
	uint64_t at = pane_head(&t.memory.pane);
	struct mark mark = {.kind = kind, .start = at, .end = at, .status = status};
	snprintf(mark.id, sizeof mark.id, "%s", id);
	blocks_handle_mark(&t.blocks, &mark, 1000, false);
}

static void add_prompt_record(int status, const char *cwd)
{
	struct record record = {
		.kind = RECORD_PROMPT, .status = status, .cwd = (char *)(uintptr_t)cwd};
	blocks_handle_record(&t.blocks, &record, 2000, pane_head(&t.memory.pane));
}

static enum journal_type journal_type_of(uint64_t number)
{
	const struct journal_entry *entry = journal_get(&t.memory.pane.journal, number);
	cr_assert(entry, "there is no entry %d", (int)number);
	return entry->type;
}

/* A person runs a command at the prompt. */
static void run_command(const char *output, int status)
{
	memory_pane_say(&t.memory, "$ ");
	add_mark(MARK_PROMPT, "", -1);
	memory_pane_say(&t.memory, "x\r\n");
	add_mark(MARK_START, "", -1);
	memory_pane_say(&t.memory, "%s", output);
	add_mark(MARK_END, "", status);
}

Test(blocks, starts_with_its_mark_and_ends_with_its_record)
{
	struct block_output o;
	run_command("hello\r\n", 2);
	const struct block *b = t.blocks.list;
	cr_assert(b && b->done && b->exact && b->status == 2 && !b->settled);
	cr_assert_eq(t.memory.pane.journal.count, 1, "the record is missing");
	add_prompt_record(2, "/srv");
	cr_assert(b->settled && b->stored);
	cr_assert_str_eq(b->cwd_after, "/srv");
	cr_assert_eq(journal_type_of(0), JOURNAL_BLOCK_STARTED);
	cr_assert_eq(journal_type_of(1), JOURNAL_CWD);
	cr_assert_eq(journal_type_of(2), JOURNAL_BLOCK_ENDED);
	cr_assert_eq(block_output(&t.memory.pane, b, 0, UINT64_MAX, &o), 0);
	cr_assert_eq(o.length, strlen("hello\r\n"));
	cr_assert_eq(memcmp(o.text, "hello\r\n", o.length), 0);
	free(o.text);
	cr_assert_eq(t.not_kept, 0);
}

static void add_prompt_record_at(uint64_t time_us)
{
	const struct record record = {.kind = RECORD_PROMPT,
		.cwd = "/",
		.time_us = time_us,
		.outlet = RECORD_OUTLET_REDIRECTED};
	blocks_handle_record(&t.blocks, &record, time_us / 1000, pane_head(&t.memory.pane));
}

/* The start mark of a typed line, with its time. */
static void add_start_at(uint64_t time_us, uint64_t now_ms)
{
	uint64_t at = pane_head(&t.memory.pane);
	const struct mark mark = {
		.kind = MARK_START, .start = at, .end = at, .status = -1, .time_us = time_us};
	blocks_handle_mark(&t.blocks, &mark, now_ms, false);
}

Test(blocks, start_marks_may_come_late)
{
	t.exec = "e";
	add_prompt_record_at(1000);
	add_mark(MARK_PROMPT, "", -1);
	add_mark(MARK_START, "e", -1);
	memory_pane_say(&t.memory, "out");
	add_start_at(2000, 1000);
	const struct block *e = block_last(&t.blocks);
	cr_assert_str_eq(e->exec, "e");
	cr_assert_not(e->done, "the line that runs the script is no block");
	add_mark(MARK_END, "e", 0);
	add_prompt_record_at(3000);
	add_mark(MARK_PROMPT, "", -1);
	memory_pane_say(&t.memory, "$ ");
	add_start_at(2000, 1000);
	cr_assert_eq(block_last(&t.blocks), e, "it is no block after the end either");

	/* A typed command whose start mark comes after the next prompt. */
	add_mark(MARK_END, "", 0);
	add_start_at(4000, 1000);
	add_mark(MARK_END, "", 0);
	add_prompt_record_at(5000);
	add_mark(MARK_PROMPT, "", -1);
	memory_pane_say(&t.memory, "$ ");
	add_mark(MARK_END, "", 0);
	add_prompt_record_at(7000);
	add_start_at(6000, 1000);
	const struct block *late = block_last(&t.blocks);
	cr_assert(late != e && late->done && late->settled && !late->exact);
	cr_assert_not(blocks_running(&t.blocks));
}

Test(blocks, clock_may_be_set_back)
{
	add_prompt_record_at(9000000);
	add_mark(MARK_PROMPT, "", -1);
	memory_pane_say(&t.memory, "$ ");
	add_start_at(5000000, 5000);
	cr_assert(blocks_running(&t.blocks));
}

/* The user's prompt has no marks. */
/* The shell exits with status 3 at a time, and another replaces it. */
static void add_exit_record_at(uint64_t time_us)
{
	const struct record record = {
		.kind = RECORD_EXIT, .cwd = "", .line = "", .status = 3, .time_us = time_us};
	blocks_handle_record(&t.blocks, &record, 2000, pane_head(&t.memory.pane));
}

Test(blocks, end_with_a_shell_that_is_replaced)
{
	add_start_at(1000000, 1000);
	const struct block *b = t.blocks.list;
	memory_pane_say(&t.memory, "exit\r\n");
	add_exit_record_at(2000000);
	add_mark(MARK_END, "", 0);
	cr_assert(b->settled && b->exact && b->status == 3 && b->ended_ms == 2000);
	cr_assert_eq(b->end - b->start, strlen("exit\r\n"));
}

Test(blocks, record_of_a_replaced_shell_may_come_late)
{
	add_start_at(1000000, 1000);
	const struct block *b = t.blocks.list;
	memory_pane_say(&t.memory, "exit\r\n");
	/* The new shell's prompt, and a line that was typed ahead. */
	add_mark(MARK_END, "", 0);
	add_mark(MARK_PROMPT, "", -1);
	memory_pane_say(&t.memory, "$ true\r\n");
	add_start_at(3000000, 3000);
	add_mark(MARK_END, "", 0);
	add_exit_record_at(2000000);
	cr_assert(b->settled && !b->exact && b->status == 3);
	cr_assert(b->next && b->next->done && !b->next->settled);
	add_prompt_record_at(4000000);
	cr_assert(b->next->settled && b->next->status == 0);
}

Test(blocks, exit_without_a_command_ends_none)
{
	run_command("", 5);
	add_prompt_record(5, "/");
	const struct block *b = t.blocks.list;
	add_mark(MARK_PROMPT, "", -1);
	memory_pane_say(&t.memory, "$ true\r\n");
	add_start_at(3000000, 3000);
	add_exit_record_at(2000000);
	cr_assert_eq(b->status, 5);
	cr_assert(b->next && !b->next->done && !b->next->settled);
}

Test(blocks, line_after_an_exec_without_a_prompt_mark)
{
	t.exec = "e";
	add_mark(MARK_START, "e", -1);
	memory_pane_say(&t.memory, "out");
	add_mark(MARK_END, "e", 0);
	memory_pane_say(&t.memory, "$ ");
	add_start_at(2000000, 2000);
	cr_assert(blocks_running(&t.blocks));
}

Test(blocks, line_after_an_exec_whose_mark_is_late)
{
	t.exec = "e";
	add_mark(MARK_START, "e", -1);
	memory_pane_say(&t.memory, "out");
	add_mark(MARK_END, "e", 0);
	add_prompt_record_at(4000000);
	add_mark(MARK_PROMPT, "", -1);
	memory_pane_say(&t.memory, "$ ");
	add_start_at(3000000, 5000);
	cr_assert_str_empty(block_last(&t.blocks)->exec);
	cr_assert(block_last(&t.blocks)->done);
}

Test(blocks, line_ends_with_the_next_prompt)
{
	add_mark(MARK_PROMPT, "", -1);
	memory_pane_say(&t.memory, "$ ");
	add_mark(MARK_END, "", 0);
	add_start_at(1000, 1000);
	cr_assert(blocks_running(&t.blocks));
	add_prompt_record_at(2000);
	uint64_t due = t.blocks.record_due_ms;
	cr_assert(due > 0 && blocks_running(&t.blocks), "its end mark may be late");
	cr_assert_not(blocks_tick(&t.blocks, due));
	cr_assert_not(blocks_running(&t.blocks));
	cr_assert(block_last(&t.blocks)->settled && !block_last(&t.blocks)->exact);
}

/* Note that this author has typed a line. */
static void type_line(const char *by)
{
	const struct typed_note note = {.offset = pane_head(&t.memory.pane),
		.author = by,
		.label = "",
		.bytes = "x\r",
		.length = 2,
		.shown = true};
	typed_add(&t.typed, &note);
}

static void assert_author(const char *by)
{
	const struct block *b = blocks_running(&t.blocks);
	cr_assert(b && b->author);
	cr_assert_str_eq(b->author, by);
}

Test(blocks, author_is_the_typist)
{
	add_mark(MARK_PROMPT, "", -1);
	type_line("ada");
	add_mark(MARK_START, "", -1);
	assert_author("ada");
}

Test(blocks, author_has_typed_ahead_of_the_prompt)
{
	run_command("hello\r\n", 0);
	type_line("ada");
	memory_pane_say(&t.memory, "$ ");
	add_mark(MARK_PROMPT, "", -1);
	memory_pane_say(&t.memory, "x\r\n");
	add_mark(MARK_START, "", -1);
	assert_author("ada");
	add_mark(MARK_END, "", 0);
	/* When the mark arrives, another author may have typed after it. */
	memory_pane_say(&t.memory, "$ ");
	add_mark(MARK_PROMPT, "", -1);
	type_line("bob");
	memory_pane_say(&t.memory, "x\r\n");
	const struct mark late = {.kind = MARK_START,
		.start = pane_head(&t.memory.pane),
		.end = pane_head(&t.memory.pane),
		.status = -1};
	memory_pane_say(&t.memory, "output");
	type_line("ada");
	blocks_handle_mark(&t.blocks, &late, 1000, false);
	assert_author("bob");
}

Test(blocks, without_a_record_it_settles_in_time)
{
	run_command("", 0);
	add_mark(MARK_INPUT, "", -1);
	uint64_t due = t.blocks.record_due_ms;
	cr_assert_gt(due, 0);
	cr_assert(blocks_tick(&t.blocks, due - 1));
	cr_assert_not(t.blocks.list->settled);
	cr_assert_not(blocks_tick(&t.blocks, due));
	cr_assert(t.blocks.list->settled);
}

Test(blocks, block_of_an_exec_is_visible_once_it_runs)
{
	char id[BLOCK_ID_MAX + 1];
	t.exec = "exec_1";
	memory_pane_say(&t.memory, "$ ");
	add_mark(MARK_START, "exec_1", -1);
	block_id(t.blocks.list, id);
	cr_assert_null(blocks_find(&t.blocks, id), "it is not visible yet");
	struct block_exec e = {.id = "exec_1",
		.command = "for a program",
		.author = "agent",
		.label = "",
		.start = 2,
		.started_ms = 1500,
		.status = -1,
		.statuses = &(uint8_t){4}};
	blocks_update_exec(&t.blocks, &e);
	const struct block *b = blocks_find(&t.blocks, id);
	cr_assert(b);
	cr_assert_str_eq(b->command, "for a program");
	cr_assert_str_eq(b->author, "agent");
	e.over = true;
	e.status = 4;
	e.statuses_count = 1;
	e.end_offset = e.over_offset = 2;
	blocks_update_exec(&t.blocks, &e);
	cr_assert(b->done && b->settled && b->status == 4 && b->statuses_count == 1);
}

Test(blocks, next_server_has_the_stored_blocks)
{
	run_command("one\r\n", 0);
	add_prompt_record(0, "/");
	run_command("two\r\n", 1);
	add_prompt_record(1, "/");
	uint64_t starts[2] = {t.blocks.list->start, t.blocks.list->next->start};
	blocks_close(&t.blocks);
	journal_close(&t.memory.pane.journal);
	journal_open(&t.memory.pane.journal, pane_head(&t.memory.pane));
	wire_blocks(&t);
	blocks_read_past(&t.blocks, pane_head(&t.memory.pane));
	cr_assert_eq(t.memory.pane.journal.count, 0, "no entry yet");
	blocks_replay_to_journal(&t.blocks);
	cr_assert_eq(t.blocks.count, 2);
	cr_assert_eq(t.blocks.list->start, starts[0]);
	cr_assert_eq(t.blocks.list->next->start, starts[1]);
	cr_assert_eq(t.blocks.list->next->status, 1);
	cr_assert_eq(t.memory.pane.journal.count, 4);
}

Test(blocks, failed_writes_are_counted_and_repeated)
{
	int error = 0, fd;
	fd = t.memory.pane.held.link.dir_fd;
	t.memory.pane.held.link.dir_fd = -1;
	run_command("", 0);
	add_prompt_record(0, "/");
	t.memory.pane.held.link.dir_fd = fd;
	cr_assert_eq(t.not_kept, 1);
	cr_assert(blocks_log_catch_up(&t.blocks, &error));
	cr_assert_eq(error, 0);
	cr_assert_not(blocks_log_catch_up(&t.blocks, &error));
}
