/* See blocks.h. */
#include "shell/blocks.h"

#include "shell/blocks_internal.h"
#include "shell/clock.h"
#include "shell/command_text.h"
#include "shell/labels.h"
#include "shell/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define CAUGHT_UP_MAX \
	((size_t)16 << 20) /* bytes of the ring in which an adopted session's blocks are looked for */

void block_id(const struct block *b, char id[BLOCK_ID_MAX + 1])
{
	snprintf(id, BLOCK_ID_MAX + 1, "b%llu", (unsigned long long)b->start);
}

struct block *blocks_find(const struct blocks *b, const char *id)
{
	char other[BLOCK_ID_MAX + 1];
	struct block *block;
	DL_FOREACH (b->list, block) {
		block_id(block, other);
		if (strcmp(id, other) == 0)
			return block;
	}
	return NULL;
}

struct block *blocks_running(const struct blocks *b)
{
	struct block *last = b->list ? b->list->prev : NULL;
	return last && !last->done ? last : NULL;
}

/* It has begun, has ended, or more of it is known. */
static void tell(struct blocks *b, const struct block *block)
{
	journal_add(&b->session->journal,
		&(struct journal_entry){
			.type = block->done ? JOURNAL_BLOCK_ENDED : JOURNAL_BLOCK_STARTED,
			.offset = block->done ? block->end : block->start,
			.at_ms = clock_wall_ms(),
			.block = block->start});
}

/* The list */

void block_free(struct block *block)
{
	free(block->command);
	free(block->cwd);
	free(block->cwd_after);
	free(block);
}

static void drop(struct blocks *b, struct block *block)
{
	DL_DELETE(b->list, block);
	b->count--;
#ifndef __clang_analyzer__ /* which takes it that the list still has it: utlist is too much for it */
	block_free(block);
#endif
}

void blocks_append(struct blocks *b, struct block *block)
{
	DL_APPEND(b->list, block);
	b->count++;
	while (b->count > BLOCKS_KEPT && b->list)
		drop(b, b->list);
}

/* Everything that will be known of the last one is known. */
static void store_last(struct blocks *b)
{
	struct block *last = b->list ? b->list->prev : NULL;
	if (last && last->done && !last->stored && !last->exec[0])
		blocks_log_append(b, last);
}

static void finish(struct blocks *b, struct block *block, uint64_t end, bool exact, uint64_t now_ms)
{
	block->done = true;
	block->end = end > block->start ? end : block->start;
	block->exact = exact;
	if (block->ended_ms == 0)
		block->ended_ms = now_ms;
	tell(b, block);
}

/* What was typed at the prompt that is left now. */
static char *typed_text(const struct blocks *b, uint64_t end)
{
	const struct session *s = b->session;
	const struct stream *bytes = &s->link.ring.bytes;
	if (!b->has_prompt || end <= b->prompt || end - b->prompt > COMMAND_TEXT_SOURCE_MAX ||
		!stream_holds(bytes, b->prompt))
		return NULL;
	size_t length = (size_t)(end - b->prompt);
	char *copy = malloc(length);
	if (!copy)
		return NULL;
	memcpy(copy, stream_at(bytes, b->prompt), length);
	char *text = stream_holds(bytes, b->prompt)
		? command_text(s->executor.nonce, copy, length, s->cols ? s->cols : 80)
		: NULL;
	free(copy);
	return text;
}

static char *keep_text(const char *text)
{
	size_t length = strlen(text);
	if (length > BLOCK_COMMAND_KEPT) {
		length = BLOCK_COMMAND_KEPT;
		while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
	}
	return strndup(text, length);
}

/* Who typed last at the prompt that is left now. */
static void take_author(const struct blocks *b, struct block *block)
{
	const struct typed_entry *entries = b->session->typing.typed.entries;
	const struct typed_entry *last = entries ? entries->prev : NULL;
	if (last && b->has_prompt && last->offset >= b->prompt)
		snprintf(block->author, sizeof block->author, "%s", last->by);
}

static void begin(struct blocks *b, const struct mark *mark, uint64_t now_ms)
{
	struct block *last = blocks_running(b);
	if (last && mark->id[0] && !last->exec[0]) {
		/* The line that called the script of this one; only met when the past is read. */
		drop(b, last);
	} else if (last) {
		finish(b, last, mark->start, false, now_ms); /* whatever has become of it */
	}
	store_last(b);
	last = b->list ? b->list->prev : NULL;
	struct block *block = last && last->start >= mark->end ? NULL : calloc(1, sizeof *block);
	if (!block)
		return;
	block->start = block->end = mark->end;
	block->status = -1;
	block->started_ms = mark->time_ms ? mark->time_ms : now_ms;
	block->cwd = b->cwd ? strdup(b->cwd) : NULL;
	snprintf(block->exec, sizeof block->exec, "%s", mark->id);
	if (!mark->id[0]) {
		char *text = typed_text(b, mark->start);
		block->command = text ? keep_text(text) : NULL;
		free(text);
		take_author(b, block);
	}
	b->has_prompt = false;
	blocks_append(b, block);
	tell(b, block);
}

void blocks_mark(struct blocks *b, const struct mark *mark, uint64_t now_ms)
{
	struct block *block = blocks_running(b);
	switch (mark->kind) {
	case MARK_PROMPT:
		b->prompt = mark->start;
		b->has_prompt = true;
		break;
	case MARK_START:
		begin(b, mark, now_ms);
		break;
	case MARK_END:
		if (!block || mark->start < block->start)
			break;
		if (mark->status >= 0)
			block->status = mark->status;
		finish(b, block, mark->start, true, now_ms);
		break;
	case MARK_INPUT:
	case MARK_CONTINUATION:
	case MARK_CONTINUED:
		break;
	}
}

static void take_statuses(struct block *block, const struct record *record)
{
	block->statuses_count = record->statuses_count;
	memcpy(block->statuses, record->statuses, record->statuses_count * sizeof *record->statuses);
}

static void take_cwd(struct blocks *b, const char *cwd, uint64_t offset)
{
	if (b->cwd && strcmp(b->cwd, cwd) == 0)
		return;
	free(b->cwd);
	b->cwd = cwd[0] ? strdup(cwd) : NULL;
	if (b->cwd)
		journal_add(&b->session->journal,
			&(struct journal_entry){.type = JOURNAL_CWD,
				.offset = offset,
				.at_ms = clock_wall_ms(),
				.text = b->cwd});
}

void blocks_record(struct blocks *b, const struct record *record, uint64_t time_ms, uint64_t offset)
{
	struct block *last = b->list ? b->list->prev : NULL;
	if (record->kind != RECORD_PROMPT)
		return;
	take_cwd(b, record->cwd, offset);
	if (!last || last->stored || offset < last->start)
		return;
	/* What programs run tells of itself; and one that is over has had its record: this is an empty line's. */
	if (last->exec[0] || (last->done && last->has_record))
		return;
	last->status = record->status;
	last->ended_ms = time_ms;
	take_statuses(last, record);
	last->has_record = true;
	free(last->cwd_after);
	last->cwd_after = b->cwd ? strdup(b->cwd) : NULL;
	if (last->done) {
		store_last(b);
		tell(b, last);
	}
}

static struct block *find_exec(const struct blocks *b, const char *id)
{
	struct block *block = b->list ? b->list->prev : NULL;
	for (; block; block = block == b->list ? NULL : block->prev)
		if (strcmp(block->exec, id) == 0)
			return block;
	return NULL;
}

/* Its mark has not come, for the command has no terminal to write it to. */
static struct block *begin_unmarked(struct blocks *b, const struct exec *e)
{
	struct mark mark = {.kind = MARK_START, .start = e->start, .end = e->start};
	snprintf(mark.id, sizeof mark.id, "%s", e->id);
	begin(b, &mark, e->started_ms);
	return find_exec(b, e->id);
}

static void take_exec_end(struct block *block, const struct exec *e)
{
	block->status = e->status;
	block->statuses_count = e->statuses_count;
	memcpy(block->statuses, e->statuses, e->statuses_count * sizeof *e->statuses);
	block->ended_ms = e->ended_ms;
	block->interleaved = e->interleaved;
	if (e->cwd && !block->cwd_after)
		block->cwd_after = strdup(e->cwd);
}

void blocks_exec(struct blocks *b, const struct exec *e)
{
	if (e->started_ms == 0 || (e->state != EXEC_RUNNING && e->state != EXEC_DONE))
		return;
	struct block *block = find_exec(b, e->id);
	if (!block)
		block = begin_unmarked(b, e);
	if (!block || block->stored)
		return;
	bool begins = !block->command;
	if (begins) {
		block->command = keep_text(e->command);
		snprintf(block->author, sizeof block->author, "%s", e->author);
		block->started_ms = e->started_ms;
	}
	if (e->state == EXEC_DONE) {
		take_exec_end(block, e);
		if (!block->done)
			finish(b, block, e->end_offset, e->end_marked, e->ended_ms);
		else
			tell(b, block);
		blocks_log_append(b, block);
	} else if (begins) {
		tell(b, block);
	}
}

void blocks_shell_ended(struct blocks *b, uint64_t offset, int status)
{
	struct block *block = blocks_running(b);
	if (block) {
		block->status = status;
		finish(b, block, offset, true, block->ended_ms);
	}
	store_last(b);
}

/* Their life */

static void on_text(
	void *user, enum event_source source, uint64_t offset, const void *bytes, size_t length)
{
	(void)user, (void)source, (void)offset, (void)bytes, (void)length;
}

static void on_past_mark(void *user, const struct mark *mark)
{
	blocks_mark(user, mark, 0);
}

static void on_past_record(void *user, const struct record *record,
	const struct event_header *event, uint64_t position)
{
	(void)position;
	blocks_record(user, record, event->time_ns / 1000000, event->offset);
}

static void on_lost(void *user, uint64_t bytes)
{
	(void)user, (void)bytes;
}

/* Those that the ring tells of, and nobody has written down. */
static void catch_up(struct blocks *b, uint64_t limit)
{
	static const struct outline_callbacks callbacks = {
		.text = on_text, .mark = on_past_mark, .record = on_past_record, .lost = on_lost};
	const struct session *s = b->session;
	const struct ring *ring = &s->link.ring;
	const struct block *last = b->list ? b->list->prev : NULL;
	uint64_t from = stream_oldest(&ring->bytes);
	if (limit > from + CAUGHT_UP_MAX)
		from = limit - CAUGHT_UP_MAX;
	if (last && last->end > from)
		from = last->end;
	struct outline *o = malloc(sizeof *o);
	if (!o || from >= limit) {
		free(o);
		return;
	}
	uint64_t tail = atomic_load(&s->link.control->events_tail);
	outline_init(o, s->executor.nonce, from, labels_log_start(&ring->events, tail),
		EVENT_SOURCE_TERMINAL);
	outline_read(o, ring, limit, SIZE_MAX, &callbacks, b);
	free(o);
}

void blocks_open(struct blocks *b, struct session *s, bool adopted)
{
	b->session = s;
	if (!adopted)
		return;
	const struct exec *e;
	blocks_log_load(b);
	catch_up(b, s->executor.outline.offset);
	DL_FOREACH (s->executor.finished, e)
		blocks_exec(b, e);
}

void blocks_close(struct blocks *b)
{
	struct block *block, *next;
	store_last(b);
	DL_FOREACH_SAFE (b->list, block, next)
		drop(b, block);
	free(b->cwd);
	b->cwd = NULL;
}
