/*
 * Records: what a session's shell reports through the sentinel FIFO. Fields are separated by US (0x1f) and a
 * record ends with RS (0x1e); one printf of the shell is one atomic write. Several may come in one read,
 * and one may be cut by a read, so they are put together here. Pure.
 *
 *   P nonce status id cwd statuses time editor outlet  the shell is about to show its prompt; id: of an exec that had not
 *                                   ended; editor: what edits lines in place of readline, "keys" when our key is bound no more,
 *                                   or ""; outlet: as of D, never "late"
 *   C nonce id length               an exec begins; length: characters of the line that somebody had half typed
 *   S nonce id -                    the state of the shell has been written down (WIRE_PLACE_STATE)
 *   D nonce id status statuses cwd outlet  it has ended; statuses: PIPESTATUS, separated by spaces; outlet: "away" when the
 *                                   shell's standard output is not its terminal, or its prompt goes by a pipe, "late" when what the command has started may
 *                                   still write, or ""
 *   L nonce line text               somebody has entered this line: its mark C follows
 *   X nonce status id               the shell ends and makes place for a new one (SHELL_EXIT_REEXEC); id: as of P
 *
 * cwd is empty when it cannot be written here: when it is long or has control characters. In P, D and X a command's id
 * has ";q=" and a part of its seal (shell/exec/seal.h) behind it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_MAX 4096u /* bytes: PIPE_BUF, what is written at once */
#define RECORD_STATUSES_MAX 64u
#define RECORD_ID_MAX 64u
#define RECORD_SEAL_MAX 31u /* of what may be a part of a seal */
#define RECORD_WAIT_MS 500u /* for the record of what the marks have told already */

enum record_kind {
	RECORD_PROMPT,
	RECORD_START,
	RECORD_END,
	RECORD_STATE,
	RECORD_EXIT,
	RECORD_LINE
};

/* Whether all that a command has printed has come out at its terminal when it has ended. */
enum record_outlet { RECORD_OUTLET_TERMINAL, RECORD_OUTLET_AWAY, RECORD_OUTLET_LATE };

struct record {
	enum record_kind kind;
	int status;                     /* P, D, X: 0 to 255 */
	char id[RECORD_ID_MAX + 1];     /* "" when there is none */
	char seal[RECORD_SEAL_MAX + 1]; /* likewise */
	size_t half_typed;              /* C */
	enum record_outlet outlet;      /* P, D */
	uint8_t statuses[RECORD_STATUSES_MAX];
	size_t statuses_count;
	uint64_t time_us;   /* P: wall clock when what ran before was over; 0: not told */
	const char *cwd;    /* borrowed for the call, or "" */
	const char *line;   /* L: likewise */
	const char *editor; /* P: likewise */
};

struct record_reader {
	char text[RECORD_MAX + 1];
	size_t length;
	bool overflow;        /* what comes until the next RS is dropped */
	uint64_t not_records; /* how often something else came: noise, or another nonce */
};

/* Feed what one read of the FIFO gave; found is called for each record with this nonce. */
void record_feed(struct record_reader *r, const char *nonce, const void *bytes, size_t length,
	void (*found)(void *user, const struct record *record), void *user);
