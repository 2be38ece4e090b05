/*
 * Typing into a session, as far as it is facts: who may, what fits into the kernel's line, how a paste is given, and who
 * it was. Pure but for the wall clock; shell/session/type.h writes.
 */
#pragma once

#include "shell/input/lease.h"
#include "shell/input/typed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

/* The kernel's line buffer takes so much before the byte that ends the line: n_tty drops the rest. */
#define TYPING_LINE_MAX 4095u

/* The line that is being typed, as far as the kernel collects it (canonical mode). Zero is an empty one. */
struct typing_line {
	size_t length;
	bool quoted; /* the next byte is taken as it is (VLNEXT) */
};

/* Whether what is typed is in a bracketed paste, from ESC [ 200 ~ to ESC [ 201 ~. Zero is outside of one. */
struct typing_pasting {
	bool open;
	unsigned matched; /* bytes of the mark that is expected next */
};

struct typing {
	struct lease lease;
	struct typed typed;
	struct typing_line line;
	struct typing_pasting paste;
	uint64_t paste_by; /* open: its typist, see typing_typist_id() */
	uint64_t paste_cut; /* typist of the paste that has been ended before its time; 0: there is none */
	uint64_t answers; /* how often something was typed that may answer a prompt */
};

/* Who types; strings are borrowed. */
struct typist {
	const char *author, *label; /* shell/name.h; label: "" for none */
	uint64_t client;            /* id of the attached client; 0: none */
	uint64_t key;               /* by which it is known when it comes again; 0: none */
	const char *lease;          /* id of the lease that he shows, or NULL */
	bool person; /* at a terminal, who may always interrupt, and whose lines are his own affair */
};

#define TYPING_PASTE_BEGIN "\033[200~"
#define TYPING_PASTE_END "\033[201~"

/* Follow bytes in and out of pastes. Pure. */
void typing_follow_paste(struct typing_pasting *paste, const void *bytes, size_t length);

/* None is under way, and none has been cut. */
void typing_forget_paste(struct typing *t);

/* What tells typists apart: a client's key or id, otherwise the names. Pure. */
uint64_t typing_typist_id(const struct typist *by);

/* Whether one who shows this id of a lease (NULL: none) may type into the session or run commands in it. */
bool typing_admits(const struct typing *t, const char *lease);

/*
 * Where the first byte of a text is that may be an answer, or its refusal: the end of a line, or what ends or stops a
 * program; length when there is none. Pure.
 */
size_t typing_answer(const void *bytes, size_t length);

/* The shell is at its prompt: what was typed before it, it has. */
void typing_at_prompt(struct typing *t);

/* Follow bytes through a canonical terminal. Returns whether the kernel takes every line of them. Pure. */
bool typing_follow_line(
	struct typing_line *line, const struct termios *modes, const void *bytes, size_t length);

/*
 * The text of a paste, as a terminal gives it to a program: between marks when that has asked for them (bracketed),
 * without the mark of the end in it; otherwise with CR for each end of a line. dst has room for
 * TYPING_PASTE_SIZE(length) bytes. Returns its length. Pure.
 */
#define TYPING_PASTE_SIZE(length) ((length) + 12)
size_t typing_paste(const char *text, size_t length, bool bracketed, char *dst);
