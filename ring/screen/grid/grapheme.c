/* Frequent ranges are handled by comparisons, the rest by binary search. */
#include "ring/screen/grid/grapheme.h"

#include <stddef.h>

#define SYLLABLE_FIRST 0xac00u
#define SYLLABLE_LAST 0xd7a3u
#define SYLLABLES_OF_PAIR 28u /* per pair of lead and vowel; the first has no trailing consonant */

/* Values of Grapheme_Cluster_Break. Controls are OTHER, PICTURE is Extended_Pictographic. */
enum kind { OTHER, PREPEND, EXTEND, REGIONAL, SPACING, L, V, T, LV, LVT, ZWJ, PICTURE };

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
	size_t low = 0, high = sizeof ranges / sizeof *ranges;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges[middle].last < code)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == sizeof ranges / sizeof *ranges || ranges[low].first > code)
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

/* GB9 to GB13, from the two characters alone. */
static bool joins(unsigned before, unsigned after)
{
	return joins_syllable(before, after) || after == EXTEND || after == ZWJ ||
		after == SPACING || before == PREPEND || (before == ZWJ && after == PICTURE) ||
		(before == REGIONAL && after == REGIONAL);
}

struct grapheme grapheme_next(struct grapheme before, uint32_t code)
{
	struct grapheme next = alone(code);
	if (before.width == 0 || !joins(before.kind, next.kind))
		return next;
	next.joins = true;
	if (before.width > next.width)
		next.width = before.width;
	/* A flag is complete. */
	if (next.kind == REGIONAL)
		next = (struct grapheme){OTHER, 2, true};
	return next;
}
