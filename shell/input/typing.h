/*
 * Typing into a session: one queue for all who do, who may, what fits, and who it was. Everything that people and
 * programs type comes through here; what the server itself says to the shell does not.
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

struct typing {
	struct lease lease;
	struct typed typed;
	struct typing_line line;
};

/* Who types; strings are borrowed. */
struct typist {
	const char *name;  /* a label */
	uint64_t client;   /* id of the attached client; 0: none */
	const char *lease; /* id of the lease that he shows, or NULL */
	bool person; /* at a terminal, who may always interrupt, and whose lines are his own affair */
};

struct typing_result {
	size_t written; /* of these bytes: the terminal has them */
	size_t queued; /* bytes that wait now for a program to read, those of others before them included */
	uint64_t offset; /* of the output, before they were typed */
};

struct session;

/*
 * Type, all or nothing. Returns 0; -EACCES (another has an exclusive lease, or the lease that is shown is over),
 * -EMSGSIZE (a line is longer than the kernel takes in canonical mode), -ENOBUFS (the queue is full), or -ENOTCONN
 * (the session does not run).
 */
int typing_write(struct session *s, const struct typist *by, const void *bytes, size_t length,
	struct typing_result *ret_result);

/* Whether one who shows this id (NULL: none) may type into the session or run commands in it. */
bool typing_admits(const struct session *s, const char *lease);

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
