/* The edit distance of two words, to suggest the right one for a mistyped one. Pure. */
#pragma once

#define EDIT_DISTANCE_FAR 3u /* from here on words are not similar */
#define EDIT_DISTANCE_WORD_MAX 32u

/*
 * The Damerau-Levenshtein distance (insert, delete, replace, exchange neighbours), at most
 * EDIT_DISTANCE_FAR. It is 1 if one word begins with the other, of at least two letters, and
 * EDIT_DISTANCE_FAR for words longer than EDIT_DISTANCE_WORD_MAX.
 */
unsigned edit_distance(const char *a, const char *b);
