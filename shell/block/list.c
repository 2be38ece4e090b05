/* The list of blocks: their memory, ids and lookup. It keeps the newest BLOCKS_KEPT. */
#include "shell/block/internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

_Static_assert(sizeof(struct block) <= 320, "BLOCKS_KEPT of them stay with each session");

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
			return block->tentative ? NULL : block;
	}
	return NULL;
}

struct block *blocks_running(const struct blocks *b)
{
	struct block *last = block_last(b);
	return last && !last->done && !last->tentative ? last : NULL;
}

struct block *block_last(const struct blocks *b)
{
	assert(!b->list || b->list->prev); /* utlist: the head's prev is the tail */
	return b->list ? b->list->prev : NULL;
}

const struct block *blocks_newest(const struct blocks *b)
{
	const struct block *block = block_last(b);
	while (block && !block->start_journaled)
		block = block_before(b, block);
	return block;
}

struct block *block_before(const struct blocks *b, const struct block *block)
{
	return block == b->list ? NULL : block->prev;
}

void block_set_author(struct block *block, const char *author, const char *label)
{
	free(block->author);
	free(block->label);
	block->author = *author ? strndup(author, BLOCK_AUTHOR_MAX) : NULL;
	block->label = *label ? strndup(label, BLOCK_AUTHOR_MAX) : NULL;
}

void block_free(struct block *block)
{
	free(block->command);
	free(block->author);
	free(block->label);
	free(block->cwd);
	free(block->cwd_after);
	free(block);
}

void blocks_drop(struct blocks *b, struct block *block)
{
	DL_DELETE(b->list, block);
	b->count--;
#ifndef __clang_analyzer__ /* the analyzer believes that the list still has it */
	block_free(block);
#endif
}

void blocks_append(struct blocks *b, struct block *block)
{
	DL_APPEND(b->list, block);
	b->count++;
	while (b->count > BLOCKS_KEPT && b->list)
		blocks_drop(b, b->list);
}

bool blocks_line_at(const struct blocks *b, uint64_t offset, struct block_line *ret_line)
{
	const struct block *next = NULL, *block = block_last(b);
	while (block && block->start > offset) {
		next = block;
		block = block_before(b, block);
	}
	uint64_t begin = next ? next->line_begin : b->line_begin;
	*ret_line = (struct block_line){.since = block ? block->start : 0,
		.begin = begin,
		.command = next ? next->command : NULL,
		.exec = next ? next->exec : ""};
	return begin > 0 && offset >= begin;
}
