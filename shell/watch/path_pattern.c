/*
 * Simulates an automaton: the set of possible places advances over the path byte by byte. Adjacent wildcards
 * are joined, so that at most one step in a row can match nothing.
 */
#include "shell/watch/path_pattern.h"

#include <string.h>

enum kind { STEP_BYTE, STEP_ONE, STEP_NAME, STEP_ALL };

static void put(struct path_pattern_states *set, unsigned place)
{
	set->words[place / 64] |= UINT64_C(1) << (place % 64);
}

static bool has(const struct path_pattern_states *set, unsigned place)
{
	return (set->words[place / 64] >> (place % 64) & 1) != 0;
}

static bool is_blank(const char *text, size_t length)
{
	size_t i = 0;
	while (i < length && strchr(" \t\r\n\v\f", text[i]))
		i++;
	return i == length;
}

bool path_pattern_is_valid(const char *text, size_t length)
{
	if (length > PATH_PATTERN_MAX || is_blank(text, length))
		return false;
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\0' || strchr("[]{}", text[i]))
			return false;
	return true;
}

static void add_step(struct path_pattern *p, enum kind kind, char byte)
{
	bool was_any = p->steps > 0 && p->kinds[p->steps - 1] >= STEP_NAME;
	if (kind >= STEP_NAME && was_any) {
		if (kind > p->kinds[p->steps - 1])
			p->kinds[p->steps - 1] = (unsigned char)kind;
		return;
	}
	p->bytes[p->steps] = byte;
	p->kinds[p->steps++] = (unsigned char)kind;
}

void path_pattern_prepare(struct path_pattern *p, const char *text, size_t length)
{
	memset(p, 0, sizeof *p);
	/* Paths never end with a slash: "build/" means the directory. */
	while (length > 1 && text[length - 1] == '/')
		length--;
	for (size_t i = 0; i < length; i++) {
		bool two = text[i] == '*' && i + 1 < length && text[i + 1] == '*';
		add_step(p,
			two                      ? STEP_ALL
				: text[i] == '*' ? STEP_NAME
				: text[i] == '?' ? STEP_ONE
						 : STEP_BYTE,
			text[i]);
		i += two;
	}
	for (unsigned i = 0; i < p->steps; i++) {
		if (p->kinds[i] >= STEP_NAME)
			put(&p->any, i);
		if (p->kinds[i] == STEP_ALL)
			put(&p->stay, i);
		if (p->kinds[i] == STEP_ONE)
			put(&p->ones, i + 1);
	}
}

bool path_pattern_equals(const struct path_pattern *p, const struct path_pattern *other)
{
	return p->steps == other->steps && memcmp(p->bytes, other->bytes, p->steps) == 0 &&
		memcmp(p->kinds, other->kinds, p->steps) == 0;
}

/* A step that may match nothing can be skipped: add the place after it. */
static void skip_wildcards(const struct path_pattern *p, struct path_pattern_states *set)
{
	uint64_t carry = 0;
	for (unsigned w = 0; w < PATH_PATTERN_WORDS; w++) {
		uint64_t may = set->words[w] & p->any.words[w];
		set->words[w] |= may << 1 | carry;
		carry = may >> 63;
	}
}

/* Whether a step that is no "*" or "**" matches a byte. */
static bool step_matches(const struct path_pattern *p, unsigned step, char byte)
{
	bool inner = ((unsigned char)byte & 0xc0) == 0x80; /* UTF-8 continuation byte */
	return p->kinds[step] == STEP_ONE ? byte != '/' && !inner
					  : p->kinds[step] == STEP_BYTE && p->bytes[step] == byte;
}

/* The places after one more byte of the path. */
static struct path_pattern_states advance(
	const struct path_pattern *p, const struct path_pattern_states *set, char byte)
{
	struct path_pattern_states next = {{0}};
	bool inner = ((unsigned char)byte & 0xc0) == 0x80;
	for (unsigned w = 0; w < PATH_PATTERN_WORDS; w++) {
		uint64_t still = set->words[w] & (byte == '/' ? p->stay.words[w] : p->any.words[w]);
		next.words[w] |= still | (inner ? set->words[w] & p->ones.words[w] : 0);
		for (uint64_t left = set->words[w]; left != 0; left &= left - 1) {
			unsigned step = w * 64 + (unsigned)__builtin_ctzll(left);
			if (step < p->steps && step_matches(p, step, byte))
				put(&next, step + 1);
		}
	}
	return next;
}

bool path_pattern_matches(const struct path_pattern *p, const char *path, size_t length)
{
	struct path_pattern_states set = {{0}};
	for (size_t i = 0;; i++) {
		if (i == 0 || path[i - 1] == '/')
			put(&set, 0);
		skip_wildcards(p, &set);
		if ((i == length || path[i] == '/') && has(&set, p->steps))
			return true;
		if (i == length)
			return false;
		set = advance(p, &set, path[i]);
	}
}
