/* Compiles a pattern to its program. */
#include "ring/search/pattern_internal.h"
#include "ring/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNLIMITED UINT32_MAX
#define CLASS_NAME_MAX 8u

/* Compiling */

struct compiler {
	struct pattern *p;
	uint32_t codes[PATTERN_BYTES_MAX]; /* code points of the pattern's text */
	size_t count, at;
	unsigned depth;
	const char *problem; /* first error; compiling stops there */
};

static void fail(struct compiler *c, const char *problem)
{
	if (!c->problem)
		c->problem = problem;
	c->at = c->count;
}

static bool decode(struct compiler *c, const uint8_t *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		unsigned size = utf8_decode(text + i, length - i, &c->codes[c->count]);
		if (size == 0)
			return false;
		c->count++;
		i += size;
	}
	return true;
}

/* Consume the next character if it is this one. */
static bool accept(struct compiler *c, uint32_t code)
{
	if (c->at >= c->count || c->codes[c->at] != code)
		return false;
	c->at++;
	return true;
}

static void emit(struct compiler *c, struct instruction i)
{
	if (c->p->size == PATTERN_STATES_MAX)
		fail(c, "the pattern is too large");
	else
		c->p->program[c->p->size++] = i;
}

/* Insert an instruction before those from `start` on. */
static void insert(struct compiler *c, unsigned start, struct instruction i)
{
	struct pattern *p = c->p;
	emit(c, i);
	if (c->problem)
		return;
	memmove(p->program + start + 1, p->program + start,
		(p->size - 1 - start) * sizeof *p->program);
	p->program[start] = i;
}

static void add_element(struct compiler *c, struct element e)
{
	struct pattern *p = c->p;
	if (p->elements_count == PATTERN_BYTES_MAX)
		fail(c, "the pattern is too large");
	else
		p->elements[p->elements_count++] = e;
}

/* Add \w \s \d or their opposites. Returns false if the letter is none of them. */
static bool add_kind(struct compiler *c, uint32_t letter)
{
	const struct pattern *p = c->p;
	const char *name;
	switch (letter | 0x20) {
	case 'w':
		name = "alnum";
		break;
	case 's':
		name = "space";
		break;
	case 'd':
		name = "digit";
		break;
	default:
		return false;
	}
	bool negated = letter < 'a';
	wctype_t kind = (letter | 0x20) == 'w' ? p->word : wctype_l(name, p->locale);
	add_element(c, (struct element){.kind = kind, .negated = negated});
	/* For \W, is_in() handles the underscore. */
	if (letter == 'w')
		add_element(c, (struct element){.first = '_', .last = '_'});
	return true;
}

static void end_set(struct compiler *c, size_t first, bool negated)
{
	struct pattern *p = c->p;
	if (c->problem)
		return;
	p->sets[p->sets_count] = (struct set){
		.first = first, .count = p->elements_count - first, .negated = negated};
	emit(c, (struct instruction){.op = OP_SET, .value = p->sets_count++});
}

/* [:name:], after "[:". */
static void parse_named(struct compiler *c)
{
	char name[CLASS_NAME_MAX];
	size_t length = 0;
	while (c->at < c->count && c->codes[c->at] != ':' && c->codes[c->at] < 0x80 &&
		length + 1 < sizeof name)
		name[length++] = (char)c->codes[c->at++];
	name[length] = '\0';
	wctype_t kind = wctype_l(name, c->p->locale);
	if (!accept(c, ':') || !accept(c, ']') || kind == 0)
		fail(c, "unknown [:class:]");
	else
		add_element(c, (struct element){.kind = kind});
}

/* The character that an escape stands for. */
static uint32_t quoted(struct compiler *c, uint32_t code)
{
	if (code == 't')
		return '\t';
	if (code >= '1' && code <= '9')
		fail(c, "back-references are not supported");
	else if (code == '0' || (code < 128 && (code | 0x20) >= 'a' && (code | 0x20) <= 'z'))
		fail(c, "unknown escape");
	return code;
}

/* Parse a character or an escape in brackets. Returns false if it was a class such as \w. */
static bool bracket_code(struct compiler *c, uint32_t *ret_code)
{
	if (c->at >= c->count) {
		fail(c, "[ without ]");
		return false;
	}
	*ret_code = c->codes[c->at++];
	if (*ret_code != '\\' || c->at >= c->count)
		return true;
	*ret_code = c->codes[c->at++];
	if (add_kind(c, *ret_code))
		return false;
	*ret_code = quoted(c, *ret_code);
	return true;
}

static void parse_bracket(struct compiler *c)
{
	size_t first = c->p->elements_count;
	bool negated = accept(c, '^'), empty = true;
	while (!c->problem && (empty || !accept(c, ']'))) {
		uint32_t from, to;
		empty = false;
		if (c->at + 1 < c->count && c->codes[c->at] == '[' && c->codes[c->at + 1] == ':') {
			c->at += 2;
			parse_named(c);
			continue;
		}
		if (!bracket_code(c, &from))
			continue;
		to = from;
		if (c->at + 1 < c->count && c->codes[c->at] == '-' && c->codes[c->at + 1] != ']') {
			c->at++;
			if (!bracket_code(c, &to) || to < from)
				fail(c, "a range in [] is reversed");
		}
		add_element(c, (struct element){.first = from, .last = to});
	}
	end_set(c, first, negated);
}

static void parse_escape(struct compiler *c)
{
	static const struct {
		uint32_t letter;
		enum op op;
	} asserts[] = {{'b', OP_WORD_EDGE}, {'B', OP_NO_WORD_EDGE}, {'<', OP_WORD_START},
		{'>', OP_WORD_END}};
	if (c->at >= c->count) {
		fail(c, "the last character is a backslash");
		return;
	}
	uint32_t code = c->codes[c->at++];
	size_t first = c->p->elements_count;
	for (size_t i = 0; i < sizeof asserts / sizeof *asserts; i++)
		if (code == asserts[i].letter) {
			emit(c, (struct instruction){.op = asserts[i].op});
			return;
		}
	if (add_kind(c, code))
		end_set(c, first, false);
	else
		emit(c,
			(struct instruction){
				.op = OP_CODE, .value = pattern_fold(c->p, quoted(c, code))});
}

static void parse_alternatives(struct compiler *c);

/* Parse a character, or an expression that stands for one. */
static void parse_atom(struct compiler *c)
{
	uint32_t code = c->codes[c->at++];
	switch (code) {
	case '(':
		if (++c->depth > PATTERN_DEPTH_MAX)
			fail(c, "parentheses are nested too deeply, at most 32 levels are allowed");
		parse_alternatives(c);
		c->depth--;
		if (!accept(c, ')'))
			fail(c, "( without )");
		break;
	case '[':
		parse_bracket(c);
		break;
	case '\\':
		parse_escape(c);
		break;
	case '.':
		emit(c, (struct instruction){.op = OP_ANY});
		break;
	case '^':
		emit(c, (struct instruction){.op = OP_LINE_START});
		break;
	case '$':
		emit(c, (struct instruction){.op = OP_LINE_END});
		break;
	case '*':
	case '+':
	case '?':
		fail(c, "nothing precedes *, + or ?");
		break;
	default:
		emit(c, (struct instruction){.op = OP_CODE, .value = pattern_fold(c->p, code)});
	}
}

/* Make the instructions from `start` on optional. */
static void optional(struct compiler *c, unsigned start)
{
	insert(c, start,
		(struct instruction){.op = OP_SPLIT, .x = 1, .y = (int)(c->p->size - start) + 1});
}

static void once_or_more(struct compiler *c, unsigned start)
{
	emit(c, (struct instruction){.op = OP_SPLIT, .x = (int)start - (int)c->p->size, .y = 1});
}

static void repeat(struct compiler *c, unsigned start, uint32_t min, uint32_t max)
{
	struct pattern *p = c->p;
	struct instruction piece[PATTERN_STATES_MAX];
	unsigned size = p->size - start;
	memcpy(piece, p->program + start, size * sizeof *piece);
	p->size = start;
	for (uint32_t i = 0; i < min || (max != UNLIMITED && i < max) || (i == 0 && max > 0); i++) {
		unsigned here = p->size;
		for (unsigned k = 0; k < size && !c->problem; k++)
			emit(c, piece[k]);
		if (max == UNLIMITED && i + 1 >= min)
			once_or_more(c, here);
		if (i >= min)
			optional(c, here);
		if (c->problem)
			return;
	}
}

static bool parse_number(struct compiler *c, uint32_t *ret_number)
{
	size_t start = c->at;
	uint32_t n = 0;
	for (; c->at < c->count && c->codes[c->at] >= '0' && c->codes[c->at] <= '9'; c->at++)
		n = n > PATTERN_REPEAT_MAX ? n : n * 10 + (c->codes[c->at] - '0');
	*ret_number = n;
	return c->at > start;
}

/* {m}, {m,} or {m,n}, after "{". */
static void parse_braces(struct compiler *c, unsigned start)
{
	uint32_t min = 0, max;
	bool good = parse_number(c, &min);
	max = min;
	if (accept(c, ',') && !parse_number(c, &max))
		max = UNLIMITED;
	if (!good || !accept(c, '}') || min > PATTERN_REPEAT_MAX ||
		(max != UNLIMITED && (max < min || max > PATTERN_REPEAT_MAX)))
		fail(c, "invalid {}: expected {m}, {m,} or {m,n} with m <= n <= 255");
	else
		repeat(c, start, min, max);
}

static void parse_branch(struct compiler *c)
{
	while (c->at < c->count && c->codes[c->at] != '|' && c->codes[c->at] != ')') {
		unsigned start = c->p->size;
		parse_atom(c);
		while (!c->problem && c->at < c->count) {
			bool more = c->at + 1 < c->count && c->codes[c->at + 1] >= '0' &&
				c->codes[c->at + 1] <= '9';
			if (accept(c, '*'))
				repeat(c, start, 0, UNLIMITED);
			else if (accept(c, '+'))
				once_or_more(c, start);
			else if (accept(c, '?'))
				optional(c, start);
			else if (more && accept(c, '{'))
				parse_braces(c, start);
			else
				break;
		}
	}
}

static void parse_alternatives(struct compiler *c)
{
	unsigned start = c->p->size;
	parse_branch(c);
	while (!c->problem && accept(c, '|')) {
		unsigned size = c->p->size - start;
		insert(c, start, (struct instruction){.op = OP_SPLIT, .x = 1, .y = (int)size + 2});
		unsigned jump = c->p->size;
		emit(c, (struct instruction){.op = OP_JUMP});
		parse_branch(c);
		if (!c->problem)
			c->p->program[jump].x = (int)(c->p->size - jump);
	}
}

static void parse(struct compiler *c, bool regex)
{
	if (regex)
		parse_alternatives(c);
	if (regex && c->at < c->count)
		fail(c, ") without (");
	for (; !regex && c->at < c->count; c->at++)
		emit(c,
			(struct instruction){
				.op = OP_CODE, .value = pattern_fold(c->p, c->codes[c->at])});
	emit(c, (struct instruction){.op = OP_MATCH});
}

int pattern_create(struct pattern **ret_pattern, const char *text, size_t length, unsigned flags,
	const char **ret_problem)
{
	struct compiler c = {0};
	*ret_problem = NULL;
	if (length == 0 || length > PATTERN_BYTES_MAX) {
		*ret_problem = length == 0 ? "the pattern is empty"
					   : "the pattern is longer than 512 bytes";
		return -EINVAL;
	}
	struct pattern *p = calloc(1, sizeof *p);
	if (!p)
		return -ENOMEM;
	p->any_case = flags & PATTERN_ANY_CASE;
	p->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!p->locale)
		p->locale = newlocale(LC_CTYPE_MASK, "C", (locale_t)0);
	if (!p->locale) {
		free(p);
		return -ENOMEM;
	}
	p->word = wctype_l("alnum", p->locale);
	c.p = p;
	if (!decode(&c, (const uint8_t *)text, length))
		fail(&c, "the pattern is not valid UTF-8");
	else
		parse(&c, flags & PATTERN_REGEX);
	if (c.problem) {
		*ret_problem = c.problem;
		pattern_destroy(p);
		return -EINVAL;
	}
	pattern_find_beginnings(p);
	*ret_pattern = p;
	return 0;
}

/* Per code point, each state is entered and left at most once, and each set is tested once. */
unsigned pattern_cost(const struct pattern *p)
{
	return 1 + 2 * p->size + PATTERN_CASES(p) * (unsigned)p->elements_count;
}

void pattern_destroy(struct pattern *p)
{
	if (!p)
		return;
	freelocale(p->locale);
	free(p);
}
