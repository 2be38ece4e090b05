/*
 * The effect of records on the blocks. The record of a prompt settles the command before it, that of an exit the command that
 * the shell was running.
 */
#include "shell/block/blocks.h"

#include "shell/block/internal.h"
#include "shell/clock.h"

#include <stdlib.h>
#include <string.h>

void blocks_give_up_records(struct blocks *b, struct block *last, uint64_t offset)
{
	struct block *block = last, *end = last ? last->next : NULL;
	if (!end)
		b->record_due_ms = 0;
	while (block && block_before(b, block) && !block->prev->settled)
		block = block->prev;
	for (; block != end; block = block->next) {
		if (!block->done && !block->exec[0] &&
			blocks_line_is_over(b, block->marked_us, clock_wall_ms()))
			block_finish(block, offset, false, b->prompt_us / 1000);
		if (!block->done || block->settled)
			continue;
		block->has_record = true;
		if (!block->exec[0])
			blocks_settle(b, block, offset);
	}
}

bool blocks_tick(struct blocks *b, uint64_t now_ms)
{
	if (b->record_due_ms == 0 || now_ms < b->record_due_ms)
		return b->record_due_ms > 0;
	blocks_give_up_records(b, block_last(b), stream_head(&b->pane->held.link.ring.bytes));
	journal_notify(&b->pane->journal);
	return false;
}

static void copy_statuses(struct block *block, const struct record *record)
{
	block->statuses_count = record->statuses_count;
	memcpy(block->statuses, record->statuses, record->statuses_count * sizeof *record->statuses);
}

static void set_cwd(struct blocks *b, const char *cwd, uint64_t offset)
{
	if (b->cwd && strcmp(b->cwd, cwd) == 0)
		return;
	free(b->cwd);
	b->cwd = cwd[0] ? strdup(cwd) : NULL;
	if (b->cwd)
		journal_add(&b->pane->journal,
			&(struct journal_entry){.type = JOURNAL_CWD,
				.offset = offset,
				.at_ms = clock_wall_ms(),
				.text = b->cwd});
}

/* Of the blocks since the last one with a record, the oldest that is done. NULL: none. */
static struct block *first_without_record(const struct blocks *b)
{
	struct block *block = block_last(b), *found = NULL;
	for (; block && !block->has_record; block = block_before(b, block))
		if (block->done)
			found = block;
	return found;
}

/*
 * Find the block that a prompt record belongs to. Between its end mark (which the prompt writes first) and its record
 * there may be marks of commands that were typed ahead, but no other record. NULL: none, as for an empty line or a new
 * shell.
 */
static struct block *match_record(struct blocks *b, const struct record *record, uint64_t offset)
{
	struct block *block = first_without_record(b);
	for (; block && block->done && block->end <= offset; block = block->next) {
		if (record->time_us > 0 && record->time_us < block->marked_us)
			return NULL;
		block->has_record = true;
		if (block->exec[0] || block->status < 0 || block->status == record->status)
			return block;
	}
	return NULL;
}

static void on_prompt_record(
	struct blocks *b, const struct record *record, uint64_t time_ms, uint64_t offset)
{
	struct block *block = match_record(b, record, offset);
	b->redirected = record->outlet == RECORD_OUTLET_REDIRECTED;
	b->prompt_us = record->time_us;
	set_cwd(b, record->cwd, offset);
	/* The end of an exec's block comes from the executor. */
	if (!block || block->exec[0] || block->stored)
		return;
	block->status = record->status;
	block->exact = block->exact && record->outlet == RECORD_OUTLET_TERMINAL;
	block->ended_ms = time_ms;
	copy_statuses(block, record);
	free(block->cwd_after);
	block->cwd_after = b->cwd ? strdup(b->cwd) : NULL;
	if (block->next && b->cwd) {
		free(block->next->cwd);
		block->next->cwd = strdup(b->cwd);
	}
	if (!block->next || !block->next->done)
		b->record_due_ms = 0;
	blocks_settle(b, block, offset);
}

/*
 * The shell has exited and another replaces it. Marks of the new one, whose first prompt ends the last block of the old one
 * with status 0, may have come before.
 */
static void on_exit_record(
	struct blocks *b, const struct record *record, uint64_t time_ms, uint64_t offset)
{
	struct block *block = block_last(b);
	while (block && record->time_us > 0 && block->marked_us > record->time_us)
		block = block_before(b, block);
	/* The end of an exec's block comes from the executor. */
	if (block && !block->exec[0] && !block->has_record && !block->settled) {
		block->status = record->status;
		block->ended_ms = 0;
		block_finish(block, block->done ? block->end : offset, !block->done, time_ms);
	}
	blocks_give_up_records(b, block, offset);
}

void blocks_handle_record(
	struct blocks *b, const struct record *record, uint64_t time_ms, uint64_t offset)
{
	blocks_handle_line(b, record);
	if (record->kind == RECORD_EXIT)
		on_exit_record(b, record, time_ms, offset);
	if (record->kind != RECORD_PROMPT)
		return;
	on_prompt_record(b, record, time_ms, offset);
	/* A block that this prompt has ended lacks its end mark: that is due, or came before the start mark. */
	const struct block *last = block_last(b);
	if (last && !last->done && blocks_line_is_over(b, last->marked_us, time_ms))
		b->record_due_ms = pane_now(b->pane) + RECORD_WAIT_MS;
}
