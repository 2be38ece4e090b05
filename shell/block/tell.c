/*
 * What the journal hears of blocks, and when they are written down: each has one beginning and then one end, in the order
 * of the blocks. A block is tentative (nobody hears of it), then told, then settled (all that will be known of it is), and
 * then its end is told and it is stored. Nothing here fails: what there is no room for is counted, see log.c.
 */
#include "shell/block/internal.h"

#define RETOLD_MAX 200u /* blocks in the journal of an adopted session */

static void tell_start(struct blocks *b, struct block *block)
{
	if (block->start_told)
		return;
	block->start_told = true;
	journal_add(&b->pane->journal,
		&(struct journal_entry){.type = JOURNAL_BLOCK_STARTED,
			.offset = block->start,
			.at_ms = block->started_ms,
			.block = block->start});
}

/* Entries are in the order of their offsets: an end has that of the place where it was known, before the next start. */
static void tell_end(struct blocks *b, struct block *block, uint64_t offset)
{
	if (block->next && offset > block->next->start)
		offset = block->next->start;
	block->end_told = true;
	journal_add(&b->pane->journal,
		&(struct journal_entry){.type = JOURNAL_BLOCK_ENDED,
			.offset = offset > block->end ? offset : block->end,
			.at_ms = block->ended_ms,
			.block = block->start});
}

void blocks_tell(struct blocks *b, uint64_t offset)
{
	struct block *block = block_last(b);
	while (block && !block->end_told && block_before(b, block) && !block->prev->end_told)
		block = block->prev;
	for (; block && !b->quiet; block = block->next) {
		if (block->end_told)
			continue;
		if (block->tentative)
			return;
		tell_start(b, block);
		if (!block->settled)
			return;
		tell_end(b, block, offset);
	}
}

/* Write down what is settled, in its order. */
static void store_settled(struct blocks *b)
{
	struct block *block = block_last(b);
	while (block && !block->stored && block_before(b, block) && !block->prev->stored)
		block = block->prev;
	for (; block && block->settled; block = block->next)
		if (!block->stored)
			blocks_log_append(b, block);
}

void blocks_settle(struct blocks *b, struct block *block, uint64_t offset)
{
	block->settled = true;
	blocks_tell(b, offset);
	store_settled(b);
}

void blocks_retell(struct blocks *b)
{
	struct block *block = b->list;
	b->quiet = false;
	for (unsigned left = b->count; left > RETOLD_MAX; left--, block = block->next)
		block->start_told = block->end_told = true;
	for (; block && block->settled; block = block->next)
		blocks_tell(b, block->end);
	blocks_tell(b, 0);
}
