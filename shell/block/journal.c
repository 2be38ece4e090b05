/*
 * Adds blocks to the journal, and saves them: a start and then an end for each, in the order of the blocks. A block is
 * tentative (not visible), then its start is in the journal, then it is settled (nothing more will be known), then its
 * end is in the journal and it is saved. Nothing here fails: blocks that could not be saved are counted, see log.c.
 */
#include "shell/block/internal.h"

#define ADOPTED_MAX 200u /* blocks of an adopted session that are added to the journal */

static void add_start(struct blocks *b, struct block *block)
{
	if (block->start_journaled)
		return;
	block->start_journaled = true;
	journal_add(&b->pane->journal,
		&(struct journal_entry){.type = JOURNAL_BLOCK_STARTED,
			.offset = block->start,
			.at_ms = block->started_ms,
			.block = block->start});
}

/* Entries are sorted by offset: an end has the offset at which it was known, but not after the next start. */
static void add_end(struct blocks *b, struct block *block, uint64_t offset)
{
	if (block->next && offset > block->next->start)
		offset = block->next->start;
	block->end_journaled = true;
	journal_add(&b->pane->journal,
		&(struct journal_entry){.type = JOURNAL_BLOCK_ENDED,
			.offset = offset > block->end ? offset : block->end,
			.at_ms = block->ended_ms,
			.block = block->start});
}

void blocks_add_to_journal(struct blocks *b, uint64_t offset)
{
	struct block *block = block_last(b);
	while (block && !block->end_journaled && block_before(b, block) &&
		!block->prev->end_journaled)
		block = block->prev;
	for (; block && !b->reads_past; block = block->next) {
		if (block->end_journaled)
			continue;
		if (block->tentative)
			return;
		add_start(b, block);
		if (!block->settled)
			return;
		add_end(b, block, offset);
	}
}

/* Save settled blocks, in their order. */
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
	blocks_add_to_journal(b, offset);
	store_settled(b);
}

void blocks_replay_to_journal(struct blocks *b)
{
	struct block *block = b->list;
	b->reads_past = false;
	for (unsigned left = b->count; left > ADOPTED_MAX; left--, block = block->next)
		block->start_journaled = block->end_journaled = true;
	for (; block && block->settled; block = block->next)
		blocks_add_to_journal(b, block->end);
	blocks_add_to_journal(b, 0);
}
