/*
 * State and rules of typing into a session: permission, the kernel's line limit, pastes, and ids of
 * typists. Pure, except for the wall clock; shell/session/type.h writes the input.
 */
#pragma once

#include "shell/input/lease.h"
#include "shell/input/typed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

/* Bytes of a line in the kernel's buffer, before the byte that ends it: n_tty drops the rest. */
#define TYPING_LINE_MAX 4095u

/* The line that the kernel is collecting (canonical mode). Zero is empty. */
struct typing_line {
	size_t length;
	bool quoted; /* the next byte is literal (VLNEXT) */
};

/* Parser for bracketed pastes, from ESC [ 200 ~ to ESC [ 201 ~. Zero is outside of a paste. */
struct typing_pasting {
	bool open;        /* inside of a paste */
	unsigned matched; /* bytes of the next marker seen so far */
};

/* Typing state of a session. */
struct typing {
	struct lease lease;
	struct typed typed;
	struct typing_line line;
	struct typing_pasting paste;
	uint64_t paste_typist;     /* typist of the open paste, see typing_typist_id() */
	uint64_t cut_paste_typist; /* typist of a paste that was ended early; 0: none */
	uint64_t answers; /* counter: inputs that may answer a prompt, see typing_find_answer() */
};

/* The source of input; strings are borrowed. */
struct typist {
	const char *author, *label; /* shell/name.h; label: "" for none */
	uint64_t client;            /* id of the attached client; 0: none */
	uint64_t key;               /* identifies it across reconnects; 0: none */
	const char *lease;          /* id of the lease that it presents, or NULL */
	bool person; /* a person at a terminal: may always interrupt, no line limit */
	bool pastes; /* the input belongs to a bracketed paste: the server types its markers */
};

#define TYPING_PASTE_BEGIN "\033[200~"
#define TYPING_PASTE_END "\033[201~"

/* Track the beginning and end of pastes in input. Pure. */
void typing_follow_paste(struct typing_pasting *paste, const void *bytes, size_t length);

/* Forget an open or cut paste. */
void typing_reset_paste(struct typing *t);

/* An id of a typist: its key or client id, otherwise a hash of its names. Pure. */
uint64_t typing_typist_id(const struct typist *by);

/*
 * Whether a client with this lease id (NULL: none) may type and run commands, see lease_allows().
 */
bool typing_is_allowed(const struct typing *t, const char *lease);

/*
 * The index of the first byte that may answer a prompt or cancel it: the end of a line, or a
 * control character that ends or stops a program; length if there is none. Pure.
 */
size_t typing_find_answer(const void *bytes, size_t length);

/* The shell is at its prompt, so it has read all earlier input: the line is empty. */
void typing_reset_line(struct typing *t);

/* Track input to a canonical terminal. Returns false if a line exceeds TYPING_LINE_MAX. Pure. */
bool typing_follow_line(
	struct typing_line *line, const struct termios *modes, const void *bytes, size_t length);

/* Cleans pasted text that comes in pieces. Zero at the beginning of a text. */
struct typing_cleaner {
	bool after_cr; /* the last character was CR: an LF after it ends the same line */
	bool has_lead; /* a byte is held back: with the next one it may be a C1 character */
};

/*
 * Remove control characters from a piece of pasted UTF-8 text, so that it can neither end its paste
 * nor send keys: C0 except HT, DEL, and C1. CR, LF and CR LF become a CR, as the Enter key sends
 * it. dst: length + 1 bytes. Returns its length. Pure.
 */
size_t typing_clean(struct typing_cleaner *c, const char *text, size_t length, char *dst);

/* Bytes of the longest typing_paste(). */
#define TYPING_PASTE_SIZE(length) ((length) + 12)

/*
 * Encode a paste as a terminal does: cleaned, and between markers if bracketed. dst:
 * TYPING_PASTE_SIZE(length) bytes. Returns its length. Pure.
 */
size_t typing_paste(const char *text, size_t length, bool bracketed, char *dst);
