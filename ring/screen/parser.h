/*
 * Parser: terminal output into text, controls and sequences with their parameters and strings, by the tokens of
 * ring/tokenizer.h.
 *
 * Pure; splitting the input anywhere changes nothing. Everything that can grow is bounded.
 */
#pragma once

#include "ring/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARSER_PARAMS 32u           /* parameters of a sequence; further ones are dropped */
#define PARSER_SUBPARAMS 32u        /* of all its parameters together */
#define PARSER_VALUE_MAX 0x7fffffff /* of a parameter */
#define PARSER_STRING_MAX \
	((size_t)1 << 20) /* bytes of an OSC or DCS; a longer one is dropped whole */
#define PARSER_IMAGE_MAX ((size_t)4 << 20) /* the same, of an image */

struct params {
	unsigned count; /* at least 1: a missing parameter is 0 */
	int32_t value[PARSER_PARAMS];
	unsigned sub_count;
	int32_t sub[PARSER_SUBPARAMS];    /* of all parameters in turn; a missing one is -1 */
	uint8_t sub_first[PARSER_PARAMS]; /* index of a parameter's first */
	uint8_t sub_end[PARSER_PARAMS];   /* index behind its last */
};

/* The id of a sequence: prefix, intermediates and final byte, each shifted in from the right: SEQUENCE('?', 'h'). */
#define SEQUENCE(collected, final) ((uint32_t)(collected) << 8 | (uint32_t)(final))

struct parser_ops {
	/* Printable ASCII. */
	void (*text)(void *user, const uint8_t *ascii, size_t length);
	/* One printable character from U+00A0 on. */
	void (*character)(void *user, uint32_t code);
	/* A control of C0 or C1 that acts; ESC and what begins strings and sequences never comes. */
	void (*control)(void *user, uint8_t code);
	void (*escape)(void *user, uint32_t id);
	void (*csi)(void *user, uint32_t id, const struct params *params);
	/* data: UTF-8 without controls, ends with a NUL that is not counted. */
	void (*osc)(void *user, uint32_t number, const char *data, size_t length);
	void (*dcs)(void *user, uint32_t id, const struct params *params, const char *data,
		size_t length);
};

struct parser {
	const struct parser_ops *ops;
	void *user;
	uint64_t offset; /* bytes consumed; while a callback runs, up to what it is called for */
	uint64_t start;  /* where the sequence that is under way began */
	struct tokenizer tokenizer;
	uint32_t dcs_id;
	bool digit_is_sub, reject_digits, reject_subs;
	struct params params;
	char *string; /* owned; NULL until the first string */
	size_t string_length, string_capacity;
	bool string_lost; /* too long */
};

/* Begin at an offset that lies between two sequences. ops and user are borrowed. */
void parser_init(struct parser *p, const struct parser_ops *ops, void *user, uint64_t offset);
void parser_finish(struct parser *p);

/*
 * Consume length bytes, or fewer: the feed ends after a callback that has set *pause (NULL: never). Returns the number of
 * bytes consumed.
 */
size_t parser_feed(struct parser *p, const uint8_t *data, size_t length, const bool *pause);

/* Whether the parser is between two sequences and two characters. */
static inline bool parser_is_ground(const struct parser *p)
{
	return tokenizer_is_ground(&p->tokenizer);
}

/* Drop an unfinished sequence or character. */
void parser_reset(struct parser *p);
