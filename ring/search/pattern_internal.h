/*
 * A pattern is a program of a few instructions, in which an alternative is a place where the program goes
 * on in two places. Running it keeps the set of places that it may be at: Thompson's way.
 */
#pragma once

#include "ring/search/pattern.h"

#include <locale.h>
#include <wctype.h>

enum op {
	OP_CODE,  /* this character */
	OP_ANY,   /* any */
	OP_SET,   /* one of a set */
	OP_SPLIT, /* go on at x and at y */
	OP_JUMP,  /* at x */
	OP_LINE_START,
	OP_LINE_END,
	OP_WORD_EDGE,
	OP_NO_WORD_EDGE,
	OP_WORD_START,
	OP_WORD_END,
	OP_MATCH,
};

/* x and y are relative, so that a piece of program can be copied. */
struct instruction {
	enum op op;
	int x, y;
	uint32_t value; /* code point, or number of the set */
};

/* An element of a set: a range, or a kind of characters. */
struct element {
	uint32_t first, last;
	wctype_t kind; /* or 0 */
	bool negated;
};

struct set {
	size_t first, count; /* of the elements */
	bool negated;
	uint64_t step; /* in which `result` was found */
	bool result;
};

/* A place where the program may be. */
struct thread {
	unsigned at;
	size_t start; /* where the match would begin */
};

struct threads {
	struct thread list[PATTERN_STATES_MAX]; /* by start */
	unsigned count;
};

struct pattern {
	bool any_case;
	locale_t locale; /* of Unicode, if the system has one */
	wctype_t word;
	struct instruction program[PATTERN_STATES_MAX];
	unsigned size;
	struct set sets[PATTERN_BYTES_MAX];
	unsigned sets_count;
	struct element elements[PATTERN_BYTES_MAX];
	size_t elements_count;
	bool begins[128]; /* a match may begin with this ASCII character */
	/* Of the run: */
	struct threads lists[2];
	struct threads *now, *next;
	uint64_t seen[PATTERN_STATES_MAX]; /* the step in which a place was added last */
	uint64_t step;
	uint64_t asked; /* elements of sets, since that was counted last */
	bool found;
	struct pattern_match match; /* valid if found */
};

/* As how many characters one is looked for in a set: as it is, in lower and in upper case. */
#define PATTERN_CASES(p) ((p)->any_case ? 3u : 1u)

/* A character as it is compared. */
static inline uint32_t pattern_fold(const struct pattern *p, uint32_t code)
{
	return p->any_case ? (uint32_t)towlower_l((wint_t)code, p->locale) : code;
}

/* pattern_find.c: note with which ASCII characters a match may begin. */
void pattern_find_beginnings(struct pattern *p);
