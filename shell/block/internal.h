/* Shared by the files of this folder. */
#pragma once

#include "shell/block/blocks.h"

/* A command is over. end: of its output; exact: it is the offset of a mark. at_ms: wall clock, if that is not known yet. */
void block_finish(struct block *block, uint64_t end, bool exact, uint64_t at_ms);

/*
 * Whether a line that began at began_us is over because a later prompt has been reported. A prompt later than now_ms
 * proves nothing: the wall clock was set back. now_ms: the wall clock; 0: not checked, for the past.
 */
bool blocks_line_is_over(const struct blocks *b, uint64_t began_us, uint64_t now_ms);

/*
 * No more records come of the blocks up to `last`, which may be NULL: settle those that are done. The executor settles
 * those of execs. offset: of the output.
 */
void blocks_give_up_records(struct blocks *b, struct block *last, uint64_t offset);

/* Free a block that is in no list. */
void block_free(struct block *block);

/* The newest block, or NULL. */
struct block *block_last(const struct blocks *b);

/* The block before another, or NULL. */
struct block *block_before(const struct blocks *b, const struct block *block);

/* Add the known starts and ends to the journal, in order. offset: of the output that made the last one known. */
void blocks_add_to_journal(struct blocks *b, uint64_t offset);

/* Nothing more will be known of a block: add its end to the journal, and save it. */
void blocks_settle(struct blocks *b, struct block *block, uint64_t offset);

/*
 * Handle a record of a line that the shell is about to run. These come in the order of the lines and before the prompt
 * records, but perhaps after the marks. A prompt record drops a pending line.
 */
void blocks_handle_line(struct blocks *b, const struct record *record);

/* Set author and label; "" is unknown. */
void block_set_author(struct block *block, const char *author, const char *label);

/* Remove a block from the list and free it. */
void blocks_drop(struct blocks *b, struct block *block);

/* Append to the list; may drop the oldest block. */
void blocks_append(struct blocks *b, struct block *block);

/* Save a block. A failure is counted. */
void blocks_log_append(struct blocks *b, struct block *block);

/* Load the saved blocks. */
void blocks_log_load(struct blocks *b);
