/*
 * Receipts: how much of each client's input the terminal has accepted. They are in the control
 * page, so that a server started after a kill -9 can read them. Input is noted and announced before
 * it is written, so input in doubt counts as accepted and is never requested twice.
 *
 * A place counts bytes of the session's whole input. Other processes can write the page: use the
 * values only to inform the client.
 */
#pragma once

#include "ring/control.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Called when a server starts: input that was being written counts as written, and what the earlier
 * server had not begun to write is lost.
 */
void receipts_settle(const struct control *c);

/* Place after the input that the terminal has accepted. */
uint64_t receipts_written(const struct control *c);

/* Announce that length bytes are about to be written to the terminal. */
void receipts_announce(const struct control *c, size_t length);

/* The terminal has accepted length of the announced bytes. */
void receipts_confirm(const struct control *c, size_t length);

/*
 * Note that a client is about to type length bytes. key: the client, not 0. taken: bytes that it
 * has typed including these. end: place after them. Does nothing if no page is mapped.
 */
void receipts_note(
	const struct control *c, uint64_t key, uint64_t taken, uint64_t end, size_t length);

/* Correct the last note: it ends at `end`; `less` of its bytes are not written but accepted. */
void receipts_correct(const struct control *c, uint64_t end, size_t less);

/* Bytes of the client's input that the terminal has accepted. Returns false if that is unknown. */
bool receipts_find(const struct control *c, uint64_t key, uint64_t *ret_taken);

/* The same, with noted bytes that are still to be written. */
bool receipts_find_noted(const struct control *c, uint64_t key, uint64_t *ret_taken);
