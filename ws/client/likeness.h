/* The edit distance of two words, to suggest the right one for a mistyped one. Pure. */
#pragma once

#define LIKENESS_FAR 3u /* from here on words are not similar */
#define LIKENESS_WORD_MAX 32u

/*
 * The Damerau-Levenshtein distance (insert, delete, replace, exchange neighbours), at most
 * LIKENESS_FAR. It is 1 if one word begins with the other, of at least two letters, and
 * LIKENESS_FAR for words longer than LIKENESS_WORD_MAX.
 */
unsigned likeness_distance(const char *a, const char *b);
