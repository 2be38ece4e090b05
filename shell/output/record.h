/*
 * Records: what a session's shell reports through the sentinel FIFO. Fields are separated by US
 * (0x1f), a record ends with RS (0x1e). The shell writes each record atomically; a read may return
 * several records or part of one. Pure.
 *
 *   P nonce status id cwd statuses time editor outlet
 *       The shell is about to print its prompt. id: of an exec that had not ended. editor: the line
 *       editor used instead of readline; "keys" if our key is no longer bound; or "". outlet: as in
 *       D, never "late".
 *   C nonce id length
 *       An exec begins. length: characters of a line that a person had half typed.
 *   S nonce id -
 *       The shell's state has been written to a file (WIRE_FIXED_FD_STATE).
 *   D nonce id status statuses cwd outlet
 *       An exec has ended. statuses: PIPESTATUS, separated by spaces. outlet: "away" if the shell's
 *       standard output is not its terminal, or its prompt goes through a pipe; "late" if something
 *       that the command has started may still write; or "".
 *   L nonce line text
 *       A person has entered this line; its mark C follows.
 *   X nonce status id time
 *       The shell exits and a new one replaces it (SHELL_EXIT_REEXEC). id: as in P.
 *
 * cwd is empty if it does not fit or has control characters. In P, D and X ";q=" and a part of the
 * command's seal (shell/exec/seal.h) follow its id.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_MAX 4096u /* bytes: PIPE_BUF, the limit for atomic writes */
#define RECORD_STATUSES_MAX 64u
#define RECORD_ID_MAX 64u
#define RECORD_SEAL_MAX 31u /* bytes of a seal's part */
#define RECORD_WAIT_MS 500u /* to wait for the record of something that a mark has reported */

/* The kind of a record: P, C, D, S, X, L. */
enum record_kind {
	RECORD_PROMPT,
	RECORD_START,
	RECORD_END,
	RECORD_STATE,
	RECORD_EXIT,
	RECORD_LINE
};

/* Whether all output of a command has reached the terminal by its end. */
enum record_outlet { RECORD_OUTLET_TERMINAL, RECORD_OUTLET_REDIRECTED, RECORD_OUTLET_PENDING };

/* A parsed record. Strings are borrowed for the call. */
struct record {
	enum record_kind kind;
	int status;                     /* P, D, X: 0 to 255 */
	char id[RECORD_ID_MAX + 1];     /* or "" */
	char seal[RECORD_SEAL_MAX + 1]; /* or "" */
	size_t half_typed;              /* C */
	enum record_outlet outlet;      /* P, D */
	uint8_t statuses[RECORD_STATUSES_MAX];
	size_t statuses_count;
	uint64_t time_us;   /* P: wall clock of the end of the last command; 0: not known */
	const char *cwd;    /* or "" */
	const char *line;   /* L */
	const char *editor; /* P */
};

/* Reassembles records; starts zeroed. */
struct record_reader {
	char text[RECORD_MAX + 1];
	size_t length;
	bool overflow;            /* bytes up to the next RS are dropped */
	uint64_t invalid_records; /* counter: invalid records, or with another nonce */
};

/* Parse what one read of the FIFO returned; calls found for each record with this nonce. */
void record_feed(struct record_reader *r, const char *nonce, const void *bytes, size_t length,
	void (*found)(void *user, const struct record *record), void *user);
