/*
 * The effect of marks and execs on the blocks. A block starts with a start mark, is done with its end mark (or
 * the next start mark), and is settled by the record of its prompt, or when that does not come in time. A block for which
 * memory is short is left out. See records.c for records, list.c for the list, journal.c for the journal and log.c for the file.
 */
#include "shell/block/blocks.h"

#include "ring/utf8.h"
#include "ring/labels.h"
#include "shell/block/command_text.h"
#include "shell/block/internal.h"
#include "shell/clock.h"
#include "shell/output/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Bytes of the ring that are searched for the blocks of an adopted session. */
#define PAST_MAX ((size_t)16 << 20)

void block_finish(struct block *block, uint64_t end, bool exact, uint64_t at_ms)
{
	block->done = true;
	block->tentative = false;
	block->end = end > block->start ? end : block->start;
	block->exact = exact && !block->suspect;
	if (block->ended_ms == 0)
		block->ended_ms = at_ms;
}

/* The text that was typed at the last prompt, up to the offset end. Owned by the caller; NULL: unknown. */
static char *typed_text(const struct blocks *b, uint64_t end)
{
	const struct stream *bytes = &b->pane->held.link.ring.bytes;
	if (!b->has_prompt || end <= b->prompt || end - b->prompt > COMMAND_TEXT_SOURCE_MAX)
		return NULL;
	size_t length = (size_t)(end - b->prompt);
	char *copy = malloc(length);
	if (!copy)
		return NULL;
	char *text = stream_copy(bytes, b->prompt, copy, length)
		? command_text(b->nonce, copy, length, pane_cols(b->pane))
		: NULL;
	free(copy);
	return text;
}

static char *keep_text(const char *text)
{
	return strndup(text, utf8_cut(text, strlen(text), BLOCK_COMMAND_KEPT));
}

/* The author is that of the last input before the start of the block. */
static void set_typist(const struct blocks *b, struct block *block, uint64_t start)
{
	const struct typed_entry *first = b->typed->entries, *e = first ? first->prev : NULL;
	while (e && e->offset > start)
		e = e == first ? NULL : e->prev;
	if (e)
		block_set_author(block, e->author, e->label);
}

/* Set the command and author of a block that a mark starts. */
static void set_command(struct blocks *b, struct block *block, const struct mark *mark)
{
	struct block_exec e;
	if (mark->id[0] && b->find_exec(b->user, mark->id, &e)) {
		block->command = keep_text(e.command);
		block_set_author(block, e.author, e.label);
	} else if (!mark->id[0]) {
		block->has_reported_line = b->line != NULL;
		char *text = b->line ? b->line : typed_text(b, mark->start);
		block->command = text ? keep_text(text) : NULL;
		b->line = NULL;
		free(text);
		set_typist(b, block, mark->start);
	}
}

/* The next start mark has come without an end mark of the last block: end it. No prompt will report it. */
static void finish_unmarked(struct blocks *b, struct block *last, const struct mark *mark)
{
	/* The line that called the script of an exec is no block. */
	if (mark->id[0] && !last->exec[0] && !last->start_journaled) {
		b->input_mark = last->input_mark;
		b->line_begin = last->line_begin;
		blocks_drop(b, last);
		return;
	}
	block_finish(last, mark->start, false, 0);
	last->has_record = true;
	blocks_settle(b, last, mark->start);
}

/*
 * bash writes a line's start mark to stderr and the other marks to the terminal. If another program passes stderr on
 * (exec > >(tee log) 2>&1), the start mark may arrive after the marks of an exec, or after the next prompt.
 */
static bool is_late_mark(
	const struct blocks *b, const struct block *last, const struct mark *mark, bool over)
{
	if (!last || !last->exec[0] || mark->id[0])
		return false;
	bool later = last->done &&
		(mark->time_us == 0 ||
			(last->ended_ms > 0 && mark->time_us / 1000 > last->ended_ms));
	return !later && (over || !b->has_prompt);
}

bool blocks_line_is_over(const struct blocks *b, uint64_t began_us, uint64_t now_ms)
{
	bool clock_was_set_back = now_ms > 0 && b->prompt_us / 1000 > now_ms;
	return began_us > 0 && began_us < b->prompt_us && !clock_was_set_back;
}

/* The start mark came after the prompt that ended the line: end the block, with no output. */
static void finish_late(struct blocks *b, struct block *block)
{
	block_finish(block, block->start, false, b->prompt_us / 1000);
	block->has_record = true;
	blocks_settle(b, block, block->start);
}

static void begin_block(
	struct blocks *b, const struct mark *mark, uint64_t now_ms, bool exec_is_starting)
{
	struct block *last = block_last(b);
	bool over = blocks_line_is_over(b, mark->time_us, now_ms);
	/* Ignore marks that were read before, and late ones of the line that calls the script of an exec. */
	if ((last && last->start >= mark->end) || is_late_mark(b, last, mark, over))
		return;
	if (last && !last->done)
		finish_unmarked(b, last, mark);
	struct block *block = calloc(1, sizeof *block);
	if (!block)
		return;
	block->start = block->end = mark->end;
	block->status = -1;
	block->started_ms = mark->time_us ? mark->time_us / 1000 : now_ms;
	block->marked_us = mark->time_us;
	block->cwd = b->cwd ? strdup(b->cwd) : NULL;
	snprintf(block->exec, sizeof block->exec, "%s", mark->id);
	block->tentative = exec_is_starting || mark->id[0];
	set_command(b, block, mark);
	block->input_mark = b->input_mark;
	block->line_begin = b->line_begin;
	b->has_prompt = false;
	b->input_mark = b->line_begin = 0;
	blocks_append(b, block);
	blocks_add_to_journal(b, mark->end);
	if (over)
		finish_late(b, block);
}

/* A second end mark of a line. The later status is the shell's, except when the mark only redraws a settled prompt. */
static void replace_status(
	const struct blocks *b, struct block *block, const struct mark *mark, uint64_t now_ms)
{
	if (block->exec[0] || block->settled || b->reads_past || mark->status < 0 ||
		mark->status == block->status)
		return;
	block->suspect = true;
	block->status = mark->status;
	block->ended_ms = 0;
	block_finish(block, mark->start, false, now_ms);
}

static void on_end_mark(struct blocks *b, const struct mark *mark, uint64_t now_ms)
{
	struct block *block = block_last(b);
	if (!block || mark->start < block->start)
		return;
	if (mark->start == block->end && block->done && block->end_mark == 0)
		block->end_mark = mark->end;
	/* Only the executor decides the end of its command; a mark with another id was printed by a program. */
	if (block->exec[0] && strcmp(block->exec, mark->id) != 0)
		return;
	if (block->done) {
		replace_status(b, block, mark, now_ms);
		return;
	}
	if (mark->status >= 0)
		block->status = mark->status;
	block->end_mark = mark->end;
	block_finish(block, mark->start, block->exec[0] || !b->redirected, now_ms);
	blocks_add_to_journal(b, mark->start);
}

/* The shell reads a line. If the last block has no record yet, wait for it: the hook that writes it may be gone. */
static void on_input_mark(struct blocks *b)
{
	const struct block *last = block_last(b);
	if (last && last->done && !last->has_record && !last->exec[0] && !b->reads_past)
		b->record_due_ms = pane_now(b->pane) + RECORD_WAIT_MS;
}

void blocks_handle_mark(
	struct blocks *b, const struct mark *mark, uint64_t now_ms, bool exec_is_starting)
{
	switch (mark->kind) {
	case MARK_PROMPT:
		b->prompt = mark->start;
		b->has_prompt = true;
		b->input_mark = 0;
		break;
	case MARK_START:
		begin_block(b, mark, now_ms, exec_is_starting);
		break;
	case MARK_END:
		on_end_mark(b, mark, now_ms);
		break;
	case MARK_INPUT:
		b->input_mark = mark->end;
		if (b->line_begin == 0)
			b->line_begin = mark->end;
		on_input_mark(b);
		break;
	case MARK_CONTINUATION:
	case MARK_CONTINUED:
		break;
	}
}

bool blocks_is_awaiting_record(const struct blocks *b)
{
	const struct block *last = block_last(b);
	return last && last->done && !last->settled && !last->exec[0];
}

void blocks_mark_suspect(struct blocks *b)
{
	struct block *block = block_last(b);
	if (!block)
		return;
	block->suspect = true;
	block->exact = false;
}

static struct block *find_exec_block(const struct blocks *b, const char *id)
{
	struct block *block = block_last(b);
	for (; block; block = block_before(b, block))
		if (strcmp(block->exec, id) == 0)
			return block;
	return NULL;
}

/* Start a block without its mark: the command had no terminal to write the mark to, or the ring has lost it. */
static struct block *begin_unmarked(struct blocks *b, const struct block_exec *e)
{
	struct mark mark = {.kind = MARK_START, .start = e->start, .end = e->start};
	snprintf(mark.id, sizeof mark.id, "%s", e->id);
	begin_block(b, &mark, e->started_ms, false);
	return find_exec_block(b, e->id);
}

static void copy_exec_end(struct block *block, const struct block_exec *e)
{
	block->status = e->status;
	block->statuses_count = e->statuses_count;
	memcpy(block->statuses, e->statuses, e->statuses_count * sizeof *e->statuses);
	block->ended_ms = e->ended_ms;
	block->interleaved = e->interleaved;
	block->suspect = e->suspect;
	block->exact = block->exact && !e->suspect && !e->escaped;
	if (e->cwd && !block->cwd_after)
		block->cwd_after = strdup(e->cwd);
}

void blocks_update_exec(struct blocks *b, const struct block_exec *e)
{
	struct block *last = block_last(b);
	if (e->over && last && last->tentative) {
		last->tentative = false; /* so it is not the line that calls the script */
		blocks_add_to_journal(b, last->start);
	}
	struct block *block = find_exec_block(b, e->id);
	if (!block && e->started_ms > 0)
		block = begin_unmarked(b, e);
	if (!block || block->stored)
		return;
	if (e->started_ms > 0)
		block->started_ms = e->started_ms;
	block->tentative = false;
	blocks_add_to_journal(b, block->start);
	if (!e->over)
		return;
	copy_exec_end(block, e);
	if (!block->done)
		block_finish(block, e->end_offset, e->end_marked && !e->escaped, e->ended_ms);
	blocks_settle(b, block, e->over_offset);
}

void blocks_shell_ended(struct blocks *b, uint64_t offset, int status, uint64_t time_ms)
{
	struct block *block = block_last(b);
	if (block && !block->done && !block->exec[0]) {
		block->status = status;
		block_finish(block, offset, true, time_ms);
	}
	/* The next prompt is that of another shell: it reports none of these. */
	blocks_give_up_records(b, block_last(b), offset);
}

/* The past, and the end */

static void on_text(
	void *user, enum event_source source, uint64_t offset, const void *bytes, size_t length)
{
	(void)user, (void)source, (void)offset, (void)bytes, (void)length;
}

static void on_past_mark(void *user, const struct mark *mark)
{
	blocks_handle_mark(user, mark, 0, false);
}

static void on_past_record(void *user, const struct record *record,
	const struct event_header *event, uint64_t position)
{
	(void)position;
	blocks_handle_record(user, record, event->time_ns / 1000000, event->offset);
}

static void on_lost(void *user, uint64_t bytes)
{
	(void)user, (void)bytes;
}

/* Find the blocks in the ring up to an offset that the file does not have. */
static void read_ring(struct blocks *b, uint64_t limit)
{
	static const struct outline_callbacks callbacks = {
		.text = on_text, .mark = on_past_mark, .record = on_past_record, .lost = on_lost};
	const struct link *link = &b->pane->held.link;
	const struct block *last = block_last(b);
	uint64_t from = stream_oldest(&link->ring.bytes);
	if (limit > from + PAST_MAX)
		from = limit - PAST_MAX;
	if (last && last->end > from)
		from = last->end;
	struct outline *o = malloc(sizeof *o);
	if (!o || from >= limit) {
		free(o);
		return;
	}
	uint64_t tail = control_events_tail(&link->control, stream_head(&link->ring.events));
	outline_init(o, b->nonce, from, labels_log_start(&link->ring.events, tail),
		EVENT_SOURCE_TERMINAL);
	outline_read(o, &link->ring, limit, SIZE_MAX, &callbacks, b);
	free(o);
}

void blocks_read_past(struct blocks *b, uint64_t limit)
{
	b->reads_past = true;
	blocks_log_load(b);
	read_ring(b, limit);
}

void blocks_close(struct blocks *b)
{
	struct block *block, *next;
	blocks_give_up_records(b, block_last(b), 0);
	DL_FOREACH_SAFE (b->list, block, next)
		blocks_drop(b, block);
	free(b->cwd);
	free(b->line);
	b->cwd = b->line = NULL;
}
