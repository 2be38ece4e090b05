/*
 * A pattern is compiled to a program whose split instructions continue in two places. Running it
 * tracks the set of places that it can be at: Thompson's algorithm.
 */
#pragma once

#include "ring/search/pattern.h"

#include <locale.h>
#include <wctype.h>

/* Instructions. */
enum op {
	OP_CODE,  /* this character */
	OP_ANY,   /* any */
	OP_SET,   /* one of a set of characters */
	OP_SPLIT, /* continue at x and at y */
	OP_JUMP,  /* continue at x */
	OP_LINE_START,
	OP_LINE_END,
	OP_WORD_EDGE,
	OP_NO_WORD_EDGE,
	OP_WORD_START,
	OP_WORD_END,
	OP_MATCH,
};

/* An instruction. x and y are relative, so that code can be copied. */
struct instruction {
	enum op op;
	int x, y;
	uint32_t value; /* code point, or index of the set */
};

/* An element of a set: a range, or a character class. */
struct element {
	uint32_t first, last;
	wctype_t kind; /* 0: a range */
	bool negated;
};

/* A set of characters, as in []. */
struct set {
	size_t first, count; /* range in `elements` */
	bool negated;
	uint64_t step; /* step for which `result` is valid */
	bool result;
};

/* A place where the program can be. */
struct thread {
	unsigned at;
	size_t start; /* where its match begins */
};

/* A list of threads. */
struct threads {
	struct thread list[PATTERN_STATES_MAX]; /* ordered by start */
	unsigned count;
};

/* A compiled pattern and the state of a run. */
struct pattern {
	bool any_case;
	locale_t locale; /* C.UTF-8 if available */
	wctype_t word;
	struct instruction program[PATTERN_STATES_MAX];
	unsigned size;
	struct set sets[PATTERN_BYTES_MAX];
	unsigned sets_count;
	struct element elements[PATTERN_BYTES_MAX];
	size_t elements_count;
	bool begins[128]; /* a match can begin with this ASCII character */
	/* State of the run. */
	struct threads lists[2];
	struct threads *now, *next;
	uint64_t seen[PATTERN_STATES_MAX]; /* step in which each instruction was last added */
	uint64_t step;
	uint64_t tested; /* elements tested but not yet counted as work */
	bool found;
	struct pattern_match match; /* valid if found */
};

/* Characters tested per code point in a set: as it is, in lower and in upper case. */
#define PATTERN_CASES(p) ((p)->any_case ? 3u : 1u)

/* Fold the case of a character if the pattern ignores case. */
static inline uint32_t pattern_fold(const struct pattern *p, uint32_t code)
{
	return p->any_case ? (uint32_t)towlower_l((wint_t)code, p->locale) : code;
}

/* Compute `begins`. In pattern_find.c. */
void pattern_find_beginnings(struct pattern *p);
