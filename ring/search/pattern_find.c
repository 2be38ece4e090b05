/* Runs a pattern. */
#include "ring/search/pattern_internal.h"

/* Matching one character */

static bool is_word(const struct pattern *p, uint32_t code)
{
	return code == '_' || iswctype_l((wint_t)code, p->word, p->locale);
}

static bool is_in(const struct pattern *p, const struct set *set, uint32_t code)
{
	for (size_t i = set->first; i < set->first + set->count; i++) {
		const struct element *e = &p->elements[i];
		if (e->kind == 0 ? code >= e->first && code <= e->last
				: e->kind == p->word && e->negated
				? !is_word(p, code)
				: !iswctype_l((wint_t)code, e->kind, p->locale) == e->negated)
			return true;
	}
	return false;
}

/* Test a set at most once per character, however often it is repeated. */
static bool is_in_set(struct pattern *p, struct set *set, uint32_t code, uint32_t folded)
{
	if (set->step == p->step)
		return set->result;
	bool in = is_in(p, set, code);
	if (!in && p->any_case)
		in = is_in(p, set, folded) ||
			is_in(p, set, (uint32_t)towupper_l((wint_t)code, p->locale));
	p->tested += PATTERN_CASES(p) * set->count;
	set->step = p->step;
	set->result = in != set->negated;
	return set->result;
}

static bool fits(struct pattern *p, const struct instruction *i, uint32_t code, uint32_t folded)
{
	if (i->op == OP_CODE)
		return i->value == folded;
	return i->op == OP_ANY || is_in_set(p, &p->sets[i->value], code, folded);
}

/* Running */

struct place {
	const uint32_t *codes;
	size_t count, at;
	uint64_t *work;
};

static bool holds(const struct pattern *p, enum op op, const struct place *place)
{
	bool before = place->at > 0 && is_word(p, place->codes[place->at - 1]);
	bool after = place->at < place->count && is_word(p, place->codes[place->at]);
	switch (op) {
	case OP_LINE_START:
		return place->at == 0;
	case OP_LINE_END:
		return place->at == place->count;
	case OP_WORD_EDGE:
		return before != after;
	case OP_NO_WORD_EDGE:
		return before == after;
	case OP_WORD_START:
		return !before && after;
	default:
		return before && !after;
	}
}

/* Record a match [start, end): the leftmost, then the longest, never an empty one. */
static void match(struct pattern *p, size_t start, size_t end)
{
	if (end == start || (p->found && start > p->match.start))
		return;
	p->found = true;
	p->match = (struct pattern_match){.start = start, .end = end};
}

/* Add a thread at an instruction, and at all that it reaches without consuming a character. */
static void add(
	struct pattern *p, struct threads *to, unsigned at, size_t start, const struct place *place)
{
	unsigned stack[PATTERN_STATES_MAX + 1], depth = 0;
	stack[depth++] = at;
	while (depth > 0) {
		at = stack[--depth];
		const struct instruction *i = &p->program[at];
		if (p->seen[at] == p->step)
			continue;
		p->seen[at] = p->step;
		*place->work -= *place->work > 0;
		if (i->op == OP_MATCH) {
			match(p, start, place->at);
		} else if (i->op == OP_JUMP) {
			stack[depth++] = (unsigned)((int)at + i->x);
		} else if (i->op == OP_SPLIT) {
			stack[depth++] = (unsigned)((int)at + i->y);
			stack[depth++] = (unsigned)((int)at + i->x);
		} else if (i->op <= OP_SET) {
			to->list[to->count++] = (struct thread){.at = at, .start = start};
		} else if (holds(p, i->op, place)) {
			stack[depth++] = at + 1;
		}
	}
}

/* Consume a character. */
static void advance(struct pattern *p, struct place *place)
{
	uint32_t code = place->codes[place->at++], folded = pattern_fold(p, code);
	struct threads *now = p->now, *next = p->next;
	next->count = 0;
	p->step++;
	for (unsigned i = 0; i < now->count; i++) {
		struct thread t = now->list[i];
		if (p->found && t.start > p->match.start)
			break;
		*place->work -= *place->work > 0;
		if (fits(p, &p->program[t.at], code, folded))
			add(p, next, t.at + 1, t.start, place);
	}
	*place->work -= *place->work < p->tested ? *place->work : p->tested;
	p->tested = 0;
	p->now = next;
	p->next = now;
}

bool pattern_find(struct pattern *p, const uint32_t *codes, size_t count, size_t from,
	uint64_t *work, struct pattern_match *ret_match)
{
	struct place place = {.codes = codes, .count = count, .at = from, .work = work};
	p->found = false;
	p->now = &p->lists[0];
	p->next = &p->lists[1];
	p->now->count = 0;
	p->step++;
	for (;;) {
		size_t before = place.at;
		while (p->now->count == 0 && !p->found && place.at < count &&
			codes[place.at] < 128 && !p->begins[codes[place.at]])
			place.at++;
		*work -= *work < place.at - before ? *work : place.at - before;
		if (place.at > before)
			p->step++;
		/* A new thread starts after all others, so adding it last keeps the list sorted. */
		if (!p->found)
			add(p, p->now, 0, place.at, &place);
		if (place.at == count || (p->found && p->now->count == 0))
			break;
		advance(p, &place);
	}
	if (p->found)
		*ret_match = p->match;
	return p->found;
}

/* Assertions are assumed to hold. */
void pattern_find_beginnings(struct pattern *p)
{
	for (uint32_t code = 0; code < 128; code++) {
		unsigned stack[PATTERN_STATES_MAX + 1], depth = 0;
		p->step++;
		stack[depth++] = 0;
		while (depth > 0) {
			unsigned at = stack[--depth];
			const struct instruction *i = &p->program[at];
			if (p->seen[at] == p->step)
				continue;
			p->seen[at] = p->step;
			if (i->op == OP_SPLIT)
				stack[depth++] = (unsigned)((int)at + i->y);
			if (i->op == OP_SPLIT || i->op == OP_JUMP)
				stack[depth++] = (unsigned)((int)at + i->x);
			else if (i->op > OP_JUMP && i->op != OP_MATCH)
				stack[depth++] = at + 1;
			else if (i->op <= OP_SET && fits(p, i, code, pattern_fold(p, code)))
				p->begins[code] = true;
		}
	}
}
