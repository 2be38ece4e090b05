/*
 * Receipts: how much of what each client has typed the terminal has taken. They lie in the control page, so the server
 * that comes after a kill -9 knows it as well. What a client types is noted before it is written, and what is written is
 * announced before that: so what is in doubt counts as taken, and nothing is asked for twice.
 *
 * Input as a whole has places, which count its bytes. Whoever has the page may have written anything there: the numbers
 * are good for telling that client, and for nothing else.
 */
#pragma once

#include "ring/control.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A server begins: what was being written counts as written. */
void receipts_settle(const struct control *c);

/* Place behind what the terminal has taken. */
uint64_t receipts_written(const struct control *c);

/* So many bytes are about to be given to the terminal; it has taken so many of them. */
void receipts_writing(const struct control *c, size_t length);
void receipts_wrote(const struct control *c, size_t length);

/*
 * A client (key: not 0) is about to type length bytes, which will end at this place of the input; taken: its bytes up to
 * there. Harmless where no page is mapped.
 */
void receipts_note(
	const struct control *c, uint64_t key, uint64_t taken, uint64_t end, size_t length);

/* What was noted last ends here, and so many of its bytes, which are not to be written, count as taken. */
void receipts_correct(const struct control *c, uint64_t end, size_t less);

/* How much of what a client has typed the terminal has taken. Returns false when that is not known. */
bool receipts_find(const struct control *c, uint64_t key, uint64_t *ret_taken);
