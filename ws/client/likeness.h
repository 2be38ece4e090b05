/* How much two words are alike, for who has mistyped one. Pure. */
#pragma once

#define LIKENESS_FAR 3u /* so many slips, and they are not */
#define LIKENESS_WORD_MAX 32u

/*
 * How many letters are missing, too many, wrong, or exchanged with the next one; never more than LIKENESS_FAR, which is
 * also what words longer than LIKENESS_WORD_MAX are apart. Where one begins with the other, and is not just a letter, it is 1.
 */
unsigned likeness_distance(const char *a, const char *b);
