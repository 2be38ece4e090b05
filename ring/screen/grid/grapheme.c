/* Frequent ranges are handled by comparisons, the rest by an index and binary search. */
#include "ring/screen/grid/grapheme.h"

#include <stddef.h>

#define SYLLABLE_FIRST 0xac00u
#define SYLLABLE_LAST 0xd7a3u
#define SYLLABLES_OF_PAIR 28u /* per pair of lead and vowel; the first has no trailing consonant */

/*
 * Values of Grapheme_Cluster_Break. Controls are OTHER, PICTURE is Extended_Pictographic. CONSONANT
 * and LINKER are those of Indic_Conjunct_Break, and NON_JOINER is the EXTEND that ends a conjunct.
 */
enum kind {
	OTHER,
	PREPEND,
	EXTEND,
	REGIONAL,
	SPACING,
	L,
	V,
	T,
	LV,
	LVT,
	ZWJ,
	PICTURE,
	CONSONANT,
	LINKER,
	NON_JOINER,
};

/* Flags of a cluster's kind: it may continue as a conjunct, and a consonant continues it. */
#define KIND 0xfu
#define CONJUNCT 0x10u
#define LINKED 0x20u

#include "ring/screen/grid/grapheme_ranges.h"

/* A character at the start of a cluster. */
static struct grapheme alone(uint32_t code)
{
	const struct grapheme narrow = {OTHER, 1, false};
	/* ASCII and Latin without the pictures of Latin-1; Greek and Cyrillic; boxes and blocks. */
	if (code < 0xa9 || (code > 0xae && code < 0x300) || (code >= 0x370 && code <= 0x482) ||
		(code >= 0x2500 && code <= 0x25a9))
		return narrow;
	if (code >= 0x4e00 && code <= 0x9fff)
		return (struct grapheme){OTHER, 2, false};
	if (code >= SYLLABLE_FIRST && code <= SYLLABLE_LAST)
		return (struct grapheme){
			(code - SYLLABLE_FIRST) % SYLLABLES_OF_PAIR == 0 ? LV : LVT, 2, false};
	size_t count = sizeof ranges / sizeof *ranges, pages = sizeof starts / sizeof *starts - 1,
	       page = code / PAGE < pages ? code / PAGE : pages;
	size_t low = starts[page], high = page < pages ? starts[page + 1] : count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges[middle].last < code)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == count || ranges[low].first > code)
		return narrow;
	return (struct grapheme){(uint8_t)ranges[low].kind, (uint8_t)ranges[low].width, false};
}

/* Hangul: GB6 to GB8. */
static bool joins_syllable(unsigned before, unsigned after)
{
	switch (before) {
	case L:
		return after == L || after == V || after == LV || after == LVT;
	case LV:
	case V:
		return after == V || after == T;
	case LVT:
	case T:
		return after == T;
	default:
		return false;
	}
}

/* GB9 to GB13, from the two characters and the conjunct before. */
static bool joins(unsigned cluster, unsigned after)
{
	unsigned before = cluster & KIND;
	switch (after) {
	case EXTEND:
	case ZWJ:
	case SPACING:
	case LINKER:
	case NON_JOINER:
		return true;
	case CONSONANT:
		return before == PREPEND || (cluster & LINKED) != 0;
	case PICTURE:
		return before == PREPEND || before == ZWJ;
	case REGIONAL:
		return before == PREPEND || before == REGIONAL;
	default:
		return before == PREPEND || joins_syllable(before, after);
	}
}

/* GB9c: the flags after one more character of a cluster. */
static unsigned conjunct(unsigned cluster, unsigned kind)
{
	if (kind == CONSONANT)
		return CONJUNCT;
	if (!(cluster & CONJUNCT))
		return 0;
	if (kind == LINKER)
		return CONJUNCT | LINKED;
	return kind == EXTEND || kind == ZWJ ? cluster & (CONJUNCT | LINKED) : 0;
}

struct grapheme grapheme_next(struct grapheme before, uint32_t code)
{
	struct grapheme next = alone(code);
	unsigned kind = next.kind;
	if (before.width == 0 || !joins(before.kind, kind)) {
		next.kind = (uint8_t)(kind | conjunct(0, kind));
		return next;
	}
	if (kind == REGIONAL) /* a flag is complete */
		return (struct grapheme){OTHER, 2, true};
	next.kind = (uint8_t)(kind | conjunct(before.kind, kind));
	next.joins = true;
	if (before.width > next.width)
		next.width = before.width;
	return next;
}
